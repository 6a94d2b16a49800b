import type { Clock, Entry, ResourceSource, Topic } from "@xdstp/core";
import {
  type Batch,
  byName,
  deliveryOf,
  type ServerStream,
  type TypeView,
} from "@xdstp/protocol/server";
import { globOf, nameKey } from "@xdstp/uri";

import type { Access } from "../access/access-book.ts";
import { heldState } from "../held-state.ts";
import type {
  CoveringSubscription,
  ExplainedCause,
  HeldState,
  SourceState,
  StreamExplanation,
} from "./explanation.ts";
import { hiddenByAlias, ownName, type SourceSight, sourceState } from "./source-state.ts";

/** The name to explain, and what is known of it in addition to the stream. */
export interface ExplainedName {
  readonly typeUrl: string;
  readonly name: string;
  /** The source of clients without a source of their own. */
  readonly source: ResourceSource;
  /** The part of the name that the caller may see, for the clients of this stream. */
  readonly sight: SourceSight;
  readonly clock: Pick<Clock, "now" | "wallTime">;
}

/** An explanation before it is put into words. */
export type StreamFacts = Omit<StreamExplanation, "text">;

/** Explains one name on one stream, from the state of the stream now. It costs the subscriptions of that stream at most. */
export function explainStream(
  stream: ServerStream,
  access: Access | undefined,
  asked: ExplainedName,
): StreamFacts {
  const { typeUrl, name } = asked;
  const { peer, variant } = stream.info;
  const facts = { peer, variant, connectedAt: stream.status().connectedAt };
  const root = access?.root ?? asked.source;
  const view = stream.views().find((one) => one.typeUrl === typeUrl);
  const own = ownName(root, typeUrl, name);
  const isHiddenAlias = own !== name && access?.allows(typeUrl, own) === false;
  const isSeen = !isHiddenAlias || asked.sight.seesTrouble;
  const covering = view && coveringTopic(view, name, isSeen ? root : undefined);
  const subscription = covering && subscriptionOf(covering.topic, covering.by);
  const known = { ...facts, ...(subscription && { subscription }) };
  if (access?.allows(typeUrl, name) === false || (isHiddenAlias && isSeen)) {
    const rule = asked.sight.seesTrouble ? access.policy?.rule?.() : undefined;
    return {
      ...known,
      held: { what: "none" },
      cause: { kind: "denied", ...(rule !== undefined && { rule }) },
    };
  }
  const source = isSeen
    ? withGlobError(sourceState(root, typeUrl, name, asked.sight), covering?.topic)
    : hiddenByAlias;
  if (view === undefined || covering === undefined)
    return {
      ...known,
      source,
      held: { what: "none" },
      cause: { kind: "not-subscribed", subscriptions: view?.topics.length ?? 0 },
    };
  const { topic } = covering;
  const entry = entryOf(topic, name);
  const held: HeldState =
    entry === undefined ? heldWithoutEntry(view, topic, name) : heldOf(view, topic, entry, root);
  const cause = causeOf({ stream, view, topic, entry, held, root, clock: asked.clock });
  return { ...known, source, held, cause };
}

/** A name that a glob covers does not exist for the reason for which the glob is empty (S-ERR-5). */
function withGlobError(source: SourceState, topic: Topic | undefined): SourceState {
  if (source.state !== "missing" || source.error !== undefined) return source;
  const [only] = topic?.members() ?? [];
  const error = only?.resource === undefined ? only?.error : undefined;
  return error === undefined ? source : { ...source, error: error.text };
}

interface Covering {
  readonly topic: Topic;
  readonly by: CoveringSubscription["by"];
}

/** The subscription that covers a name. Where several do, the one that has it. */
function coveringTopic(
  view: TypeView,
  name: string,
  root: ResourceSource | undefined,
): Covering | undefined {
  const key = nameKey(name);
  const glob = globOf(name);
  const all = view.topics.flatMap((topic): readonly Covering[] => {
    const own = topic.interest.name;
    if (own === "*")
      return isInWildcard(view, topic, name, root) ? [{ topic, by: "wildcard" }] : [];
    if (nameKey(own) === key) return [{ topic, by: "name" }];
    if (own === glob) return [{ topic, by: "glob" }];
    return hasAlias(topic, key) ? [{ topic, by: "alias" }] : [];
  });
  const having = all.filter(({ topic }) => entryOf(topic, name)?.resource !== undefined);
  const best = having.length > 0 ? having : all;
  return best.find(({ topic }) => !view.isUnaccepted(topic)) ?? best[0];
}

/** A name that exists and is not in `*` has to be subscribed by itself. */
function isInWildcard(
  { typeUrl }: TypeView,
  topic: Topic,
  name: string,
  root: ResourceSource | undefined,
): boolean {
  return (
    entryOf(topic, name) !== undefined || root?.topic(typeUrl, { name }).get(name) === undefined
  );
}

/** A topic of an exact name has one member, whose own name is another one where it is an alias. */
function hasAlias(topic: Topic, key: string): boolean {
  const [only, ...more] = topic.members();
  return (
    only?.resource !== undefined &&
    more.length === 0 &&
    nameKey(only.resource.name) === key &&
    (only.resource.aliases ?? []).some((alias) => nameKey(alias) === nameKey(topic.interest.name))
  );
}

function subscriptionOf({ interest }: Topic, by: CoveringSubscription["by"]): CoveringSubscription {
  return { by, subscribed: interest.name };
}

/** Returns the state of a name in a topic, or its removal. undefined: the topic has neither. */
function entryOf(topic: Topic, name: string): Entry | undefined {
  const present = topic.get(name);
  if (present !== undefined) return present;
  const key = nameKey(name);
  const isIt = (entry: Entry): boolean =>
    nameKey(entry.name) === key || nameKey(entry.resource?.name ?? "") === key;
  const isExact = nameKey(topic.interest.name) === key;
  return (
    (isExact || topic.members().length === 1 ? topic.members().find(isIt) : undefined) ??
    topic.removed().find(isIt)
  );
}

function heldOf(view: TypeView, topic: Topic, entry: Entry, root: ResourceSource): HeldState {
  const { what, entry: held } = heldState(view, topic, entry, root);
  const { acceptedAt } = view.exchange;
  if (what === "none" || what === "unknown") return { what };
  return {
    what,
    ...(held?.resource && { version: held.resource.version }),
    ...(acceptedAt !== undefined && { acceptedAt }),
  };
}

function heldWithoutEntry(view: TypeView, topic: Topic, name: string): HeldState {
  return { what: view.isUnaccepted(topic) && view.mayHaveFromBefore(name) ? "unknown" : "none" };
}

interface OnStream {
  readonly stream: ServerStream;
  readonly view: TypeView;
  readonly topic: Topic;
  readonly entry: Entry | undefined;
  readonly held: HeldState;
  readonly root: ResourceSource;
  readonly clock: ExplainedName["clock"];
}

function causeOf(on: OnStream): ExplainedCause {
  const { view, topic, entry } = on;
  if (entry === undefined) return { kind: topic.settled ? "missing" : "not-settled" };
  const { resource } = entry;
  const notSent = resource && view.unsendable(entry);
  if (notSent !== undefined) return { kind: "unsendable", notSent };
  const delivery = deliveryOf(view, topic, entry);
  const { inFlight } = view.exchange;
  if (on.held.what === "newest") return { kind: "accepted" };
  // Clients of SotW are not sent that endpoints or secrets were removed.
  if (resource === undefined && (view.removals === "never" || on.held.what === "none"))
    return { kind: "missing" };
  if (delivery === "rejected") return rejectionOf(view);
  if (inFlight !== undefined && (delivery === "in-flight" || isRemovedBy(inFlight, entry)))
    return { kind: "in-flight", version: inFlight.version, sentAt: inFlight.sentAt };
  if (delivery === "accepted") return { kind: resource === undefined ? "missing" : "accepted" };
  return waitOf(on, entry);
}

/** Returns true if a full state that is not answered yet lacks a removed name. The client has the name until the answer. */
function isRemovedBy({ whole, entries }: Batch, { name, resource }: Entry): boolean {
  return whole && resource === undefined && !byName(entries).has(name);
}

/** Returns the reason why an entry is not sent yet. */
function waitOf(
  { stream, view, topic, root, clock }: OnStream,
  { name, resource }: Entry,
): ExplainedCause {
  const { typeUrl, heldBack, exchange, waitsAsWhole } = view;
  const type = root.descriptor(typeUrl);
  const followed = (type?.follows ?? []).map((one) => one.typeUrl);
  const hold = heldBack.get(nameKey(name));
  if (hold !== undefined)
    return {
      kind: "held-back",
      phase: hold.phase,
      for: hold.lacking.name,
      forType: hold.lacking.typeUrl,
      since: clock.wallTime() - clock.now() + hold.since,
    };
  if (!topic.settled) return { kind: "not-settled" };
  if (!stream.canSend) return { kind: "write-queue" };
  if (waitsAsWhole) return { kind: "order", behind: busyTypes(stream, followed) };
  if (exchange.inFlight !== undefined)
    return {
      kind: "behind",
      version: exchange.inFlight.version,
      sentAt: exchange.inFlight.sentAt,
    };
  if (resource === undefined) {
    const whileSubscribed = view.removals === "absent" && topic.interest.name !== "*";
    return {
      kind: "removal-waits",
      behind: busyTypes(stream, type?.refersTo ?? []),
      whileSubscribed,
    };
  }
  const behind = type?.references === undefined ? busyTypes(stream, followed) : [];
  return behind.length > 0 ? { kind: "order", behind } : { kind: "due" };
}

function rejectionOf({ exchange: { lastError }, settled }: TypeView): ExplainedCause {
  if (lastError === undefined) return { kind: "due" };
  const { version, code, message, at, since, missed = [] } = lastError;
  return {
    kind: "rejected",
    isCertain: settled.isNewest,
    version,
    code,
    message,
    at,
    since,
    missed,
  };
}

/** Those of some types of which the client has not accepted all. */
function busyTypes(stream: ServerStream, typeUrls: readonly string[]): readonly string[] {
  return stream
    .status()
    .types.filter(({ state, typeUrl }) => typeUrls.includes(typeUrl) && busyStates.includes(state))
    .map(({ typeUrl }) => typeUrl);
}

const busyStates: readonly string[] = ["STALE", "NACKED"];
