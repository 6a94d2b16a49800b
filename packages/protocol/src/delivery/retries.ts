import type { Entry, Reference, ResourceType, Topic, Watcher } from "@xdstp/core";
import { isServedBy } from "../order/cold.ts";
import { type HoldOwner, referenceKey } from "../order/holds.ts";
import { referencesOf } from "../order/references-of.ts";
import type { AcceptedResponse } from "../stream/type-machine.ts";
import { byName } from "./by-name.ts";
import type { MissingReference } from "./type-status.ts";

/** One type on one stream of which a client may reject resources for want of others. */
export interface RetryOwner extends HoldOwner {
  /** What the rejected resources refer to. undefined: nothing is rejected, or it refers to nothing. */
  retries: Retries | undefined;
}

/** What a type on a stream does for its {@link Retries}. */
export interface RetryActions {
  /** The newest state of a name that is subscribed; undefined: it is not. */
  newest(name: string): Entry | undefined;
  /** Sends these names again. */
  retry(names: ReadonlySet<string>): void;
}

/** A reference, and the resources of one response that have it. */
interface Referred {
  readonly reference: Reference;
  readonly names: ReadonlySet<string>;
}

type References = ReadonlyMap<string, Referred>;

const NONE: References = new Map();

/** More references of one rejected response are not watched where the client itself does not subscribe to them. */
const MANY = 256;

const known = new WeakMap<
  readonly Entry[],
  { readonly base: number; readonly references: References }
>();

/** What the new resources of a response refer to; found once for streams that got the same one. */
function referencesIn(type: ResourceType | undefined, response: AcceptedResponse): References {
  const { entries } = response;
  const base = response.asked ? -1 : response.base;
  if (type?.references === undefined) return NONE;
  const found = known.get(entries);
  if (found?.base === base) return found.references;
  const references = new Map<string, { reference: Reference; names: Set<string> }>();
  for (const { name, resource, revision } of entries) {
    if (resource === undefined || revision <= base) continue;
    for (const reference of referencesOf(type, resource)) {
      const key = referenceKey(reference);
      const referred = references.get(key);
      if (referred === undefined) references.set(key, { reference, names: new Set([name]) });
      else referred.names.add(name);
    }
  }
  known.set(entries, { base, references });
  return references;
}

/** What the new resources of a response refer to and the source does not serve to this client. */
export function missingIn(
  owner: HoldOwner,
  response: AcceptedResponse | undefined,
): readonly MissingReference[] {
  return response === undefined ? [] : missingOf(owner, referencesIn(owner.type, response));
}

function missingOf(owner: HoldOwner, references: References): readonly MissingReference[] {
  return references
    .values()
    .filter(({ reference }) => isMissing(owner, reference))
    .flatMap(({ reference, names }) =>
      [...names].map((name) => ({ name, for: reference.name, typeUrl: reference.typeUrl })),
    )
    .toArray();
}

function isMissing({ host, context: { source } }: HoldOwner, reference: Reference): boolean {
  const { typeUrl, name } = reference;
  if (!isHere(source, reference)) return false;
  const sibling = host.sibling(typeUrl);
  if (sibling?.covers(name) === true) return sibling.lacks(name) === "absent";
  const topic = source.topic(typeUrl, { name });
  return topic.settled && !exists(topic);
}

/** A reference by another way than this source, or to a name of another authority, is none of its business. */
function isHere(
  source: HoldOwner["context"]["source"],
  { typeUrl, name, source: other }: Reference,
): boolean {
  return other === undefined && source.serves(typeUrl) && isServedBy(source, name);
}

function exists(topic: Topic): boolean {
  return topic.members().some(({ resource }) => resource !== undefined);
}

/**
 * Sends what a client rejected again, once, when something that it refers to has been accepted by that client since, or has become visible to it (S-ACK-8).
 * A cluster on the same stream counts when the client has accepted it; one that the client does not subscribe there counts when it exists.
 */
export class Retries implements Watcher {
  #references: References = NONE;
  /** What the client had not accepted, or did not exist, when it rejected. */
  readonly #lacked = new Set<string>();
  readonly #watched: Topic[] = [];
  readonly #owner: RetryOwner;
  readonly #actions: RetryActions;

  constructor(owner: RetryOwner, actions: RetryActions) {
    this.#owner = owner;
    this.#actions = actions;
  }

  /** A response was rejected. */
  add(response: AcceptedResponse): void {
    const { host, type } = this.#owner;
    const references = referencesIn(type, response);
    this.#references =
      this.#references.size === 0 ? references : new Map([...this.#references, ...references]);
    for (const [key, { reference }] of references) {
      const sibling = host.sibling(reference.typeUrl);
      if (sibling?.covers(reference.name) !== true) this.#watch(reference);
      else if (sibling.lacks(reference.name) !== undefined) this.#lacked.add(key);
    }
  }

  /** It refers to something. */
  get isNeeded(): boolean {
    return this.#references.size > 0;
  }

  /** What of it is not served, for operators. */
  missing(): readonly MissingReference[] {
    return missingOf(this.#owner, this.#references);
  }

  /** The client has accepted a response of another type. */
  noteAccepted(typeUrl: string, { entries, base, asked }: AcceptedResponse): void {
    const accepted = byName(entries);
    this.#fire((reference, key) => {
      const entry = reference.typeUrl === typeUrl ? accepted.get(reference.name) : undefined;
      return (
        entry?.resource !== undefined && (entry.revision > base || (asked && this.#lacked.has(key)))
      );
    });
  }

  /** A reference that was missing exists now. */
  wake(topic: Topic): void {
    if (!exists(topic)) return;
    topic.unwatch(this);
    this.#watched.splice(this.#watched.indexOf(topic), 1);
    this.#fire(({ name, typeUrl }, key) => {
      if (name !== topic.interest.name) return false;
      // The client subscribes to it by now: it is sent, and counts when it is accepted.
      const isSubscribed = this.#owner.host.sibling(typeUrl)?.covers(name) === true;
      if (isSubscribed) this.#lacked.add(key);
      return !isSubscribed;
    });
  }

  /** Ends all watches of missing references. */
  end(): void {
    for (const topic of this.#watched) topic.unwatch(this);
    this.#watched.length = 0;
    this.#references = NONE;
    this.#lacked.clear();
  }

  #fire(isNew: (reference: Reference, key: string) => boolean): void {
    const names = new Set<string>();
    for (const [key, { reference, names: referrers }] of this.#references)
      if (isNew(reference, key))
        for (const name of referrers) if (this.#refersTo(name, key)) names.add(name);
    if (names.size === 0) return;
    this.#owner.retries = undefined;
    this.end();
    this.#actions.retry(names);
  }

  /** The newest state of a name still has this reference: it may have been rejected in another one since. */
  #refersTo(name: string, key: string): boolean {
    const { type } = this.#owner;
    const resource = this.#actions.newest(name)?.resource;
    if (type === undefined || resource === undefined) return false;
    return referencesOf(type, resource).some((reference) => referenceKey(reference) === key);
  }

  #watch(reference: Reference): void {
    const { source } = this.#owner.context;
    if (this.#watched.length >= MANY || !isHere(source, reference)) return;
    const topic = source.topic(reference.typeUrl, { name: reference.name });
    if (exists(topic) || this.#watched.includes(topic)) return;
    topic.watch(this);
    this.#watched.push(topic);
  }
}

/**
 * Keeps what rejected resources refer to for as long as they are rejected. Called when a response has been answered.
 * @param response - What was answered
 */
export function noteAnswered(
  owner: RetryOwner,
  response: AcceptedResponse,
  isRejected: boolean,
  actions: RetryActions,
): void {
  if (owner.exchange.rejected === undefined) {
    owner.retries?.end();
    owner.retries = undefined;
  } else if (isRejected && owner.type?.references !== undefined) {
    const retries = owner.retries ?? new Retries(owner, actions);
    retries.add(response);
    if (retries.isNeeded) owner.retries = retries;
  }
}
