import type { Entry, StoredResource, Topic } from "@xdstp/core";
import { createLifetimes, isDataError, mergeEntries, ttlsOf } from "@xdstp/protocol/server";
import { globOf, nameKey } from "@xdstp/uri";
import { noteAliases } from "./alias.ts";
import { type DeltaState, type HeldList, NONE_HELD } from "./delta-state.ts";
import { compareHeld, unlist } from "./held-by-client.ts";
import { goneOf, isCollection, lookUp, removal } from "./lookup.ts";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";

/** Options of {@link answerOf}. */
export interface AnswerOptions {
  /** Revision from which removals concern the client. */
  readonly since: number;
  /** Revision up to which removals may go. */
  readonly removeUpTo: number;
  /** Returns whether a removal of this name waits already. */
  readonly isHeld: (entry: Entry) => boolean;
}

/**
 * All of a topic as it is now: its members, without what the client holds in that very version (S-RECON-4); a name that was missing before too in the form that the client understands (S-MISS-1, S-MISS-2).
 * Names that were removed after `since` are in {@link removedSince}. Names that the client may not lose yet are in {@link leftovers}, or wait.
 */
export function answerOf(
  state: DeltaState,
  topic: Topic,
  { since, removeUpTo, isHeld }: AnswerOptions,
): readonly Entry[] {
  const members = topic.members();
  if (isCollection(topic.interest.name)) return withoutHeld(state, topic, members);
  const [only] = members;
  if (only === undefined || only.resource !== undefined) return withoutHeld(state, topic, members);
  // A name that the client may have goes after the names that refer to it (S-ORD-3).
  const isListed = state.initial?.has(nameKey(only.name)) === true;
  if ((isListed && state.sent > removeUpTo) || isHeld(only)) return [];
  return isRemoval(only, since) ? [] : missing(state, only, members);
}

/** What a topic covered that the client may have and that was removed. */
export function removedSince(state: DeltaState, topic: Topic, since: number): readonly Entry[] {
  const { name } = topic.interest;
  if (!isCollection(name)) return removedOf(topic).filter((entry) => isRemoval(entry, since));
  return since === NONE_HELD
    ? forgotten(state, topic)
    : topic.removed().filter((entry) => isRemoval(entry, since));
}

const NONE: readonly Entry[] = [];

/** Of a name with variants those that went; else that it is not there. */
function removedOf(topic: Topic): readonly Entry[] {
  const gone = topic.gone?.(topic.interest.name) ?? NONE;
  return gone.length > 0 ? gone : topic.members().filter(({ resource }) => resource === undefined);
}

/** Whether {@link leftovers} may have something to say: all topics have been answered. */
export function hasLeftovers({ initial, unsettled, unanswered }: DeltaState): boolean {
  return initial !== undefined && initial.size > 0 && unsettled.size === 0 && unanswered.size === 0;
}

/** What the client listed and nothing covers any more, or does not exist: said once all topics have been answered (S-RECON-4). */
export function leftovers(state: DeltaState): readonly Entry[] {
  const { initial, unsettled } = state;
  if (initial === undefined || unsettled.size > 0) return [];
  state.initial = undefined;
  const gone = [...initial.values()].filter(
    ({ name }) => !isCollection(name) && lookUp(state, name)?.resource === undefined,
  );
  return gone.flatMap(({ name }) => removalsOf(state, name));
}

/** For a name that a client listed it is not known which variant it has: the removals of all removed variants are sent (S-DYN-5). */
function removalsOf(state: DeltaState, name: string): readonly Entry[] {
  const gone = goneOf(state, name);
  return gone.length > 0 ? gone : [removal(state, name)];
}

/** The same where another variant is there now, or the resource for everyone. */
function replacedOf(
  state: DeltaState,
  initial: HeldList,
  topic: Topic,
  members: readonly Entry[],
): readonly Entry[] {
  const concerned = state.located === undefined ? replacingIn(topic, members) : members;
  return concerned.flatMap(({ name, resource }) => {
    const held = initial.get(nameKey(name));
    return held === undefined || held.version === resource?.version ? NONE : goneOf(state, name);
  });
}

/** By topic, since topics of several policies may share an array of members, and not what they have removed. */
const replacing = new WeakMap<
  Topic,
  { readonly members: readonly Entry[]; readonly found: readonly Entry[] }
>();

/** The members of a topic whose name has a removal too: they have taken the place of a variant. Found once per array, which streams without dynamic parameters share, and in one pass: to look up each name may cost a pass over all removals. */
function replacingIn(topic: Topic, members: readonly Entry[]): readonly Entry[] {
  const known = replacing.get(topic);
  if (known?.members === members) return known.found;
  const removed = new Set(topic.removed().map(({ name }) => nameKey(name)));
  const found =
    removed.size === 0 ? NONE : members.filter(({ name }) => removed.has(nameKey(name)));
  replacing.set(topic, { members, found });
  return found;
}

function withoutHeld(state: DeltaState, topic: Topic, members: readonly Entry[]): readonly Entry[] {
  const { initial } = state;
  if (initial === undefined) return members;
  noteAliases(state, members);
  const replaced = replacedOf(state, initial, topic, members);
  const rest = withoutEqual(state, initial, members);
  return replaced.length === 0 ? rest : [...replaced, ...rest];
}

function withoutEqual(
  state: DeltaState,
  initial: HeldList,
  members: readonly Entry[],
): readonly Entry[] {
  const rest =
    members.length > 1 && state.initialShared
      ? withoutListed(state, initial, members)
      : withoutEach(state, initial, members);
  if (state.quirks.resendOnReconnect.includes(state.typeUrl)) return members;
  resume(state, members, rest);
  return rest;
}

function withoutEach(
  state: DeltaState,
  initial: HeldList,
  members: readonly Entry[],
): readonly Entry[] {
  const rest = members.filter((entry) => {
    const key = nameKey(entry.name);
    const held = initial.get(key);
    unlist(state, key);
    return held === undefined || held.version !== entry.resource?.version;
  });
  return rest.length === members.length ? members : rest;
}

/** The same, for all clients that sent the same list. */
function withoutListed(
  state: DeltaState,
  list: HeldList,
  members: readonly Entry[],
): readonly Entry[] {
  const { rest, left } = compareHeld(list, members);
  state.initial = left;
  return rest;
}

/** What was removed from a glob while the client was away, for clients that do not list its members (S-RECON-10). */
function forgotten({ initial, quirks }: DeltaState, topic: Topic): readonly Entry[] {
  const glob = nameKey(topic.interest.name);
  if (!quirks.forgetsGlobMembers || glob === "*") return [];
  return initial?.keys().some((name) => globOf(name) === glob) === true ? [] : topic.removed();
}

/** What a client listed as held is not missing to it but removed. */
function missing(state: DeltaState, entry: Entry, said: readonly Entry[]): readonly Entry[] {
  const listed = unlist(state, nameKey(entry.name));
  const gone = listed ? goneOf(state, entry.name) : NONE;
  if (gone.length > 0) return gone;
  const form = state.quirks.missingAs.get(state.typeUrl) ?? state.type?.missingAs ?? "removed";
  if (listed || form === "removed" || !isDataError(entry.error)) return said;
  return form === "nothing" ? [] : [emptyEntry(entry)];
}

function isRemoval(entry: Entry, since: number): boolean {
  return since !== NONE_HELD && entry.revision > since;
}

const emptyEntries = new WeakMap<Entry, Entry>();

/** The entry of a missing name as a `Resource` without body; the same object each time. */
function emptyEntry(entry: Entry): Entry {
  let empty = emptyEntries.get(entry);
  if (empty === undefined)
    emptyEntries.set(entry, (empty = { ...entry, resource: emptyResource(entry.name) }));
  return empty;
}

function emptyResource(name: string): StoredResource {
  const wire = encodeEmptyResource(name);
  return {
    name,
    version: "",
    given: "",
    payload: { typeUrl: "", value: new Uint8Array() },
    wire,
    bare: wire.length,
    any: [0, 0],
    hash: 0,
  };
}

/** The client came back and holds of these all but the `rest` already: time has run on for them, so that a heartbeat is due (C-TTL-6). */
function resume(state: DeltaState, members: readonly Entry[], rest: readonly Entry[]): void {
  if (state.profile.heartbeat === undefined || ttlsOf(members).length === 0) return;
  const lifetimes = (state.lifetimes ??= createLifetimes());
  const lacks = new Set(rest);
  lifetimes.resumed = true;
  lifetimes.accepted = mergeEntries(state, [
    lifetimes.accepted,
    members.filter((entry) => !lacks.has(entry)),
  ]);
}

const NAME = 3;
const ALIASES = 4;

/** A `Resource` that has the name, also as its alias, and no body: how an on-demand look-up of a virtual host is answered when there is none (S-MISS-2). */
export function encodeEmptyResource(name: string): Uint8Array {
  return concatBytes([lengthDelimited(NAME, name), lengthDelimited(ALIASES, name)]);
}
