import type { Entry, StoredResource, Topic } from "@xdstp/core";
import { createLifetimes, isDataError, mergeEntries, ttlsOf } from "@xdstp/protocol/server";
import { globOf, nameKey } from "@xdstp/uri";
import { noteAliases } from "./alias.ts";
import { type DeltaState, type HeldList, NONE_HELD } from "./delta-state.ts";
import { compareHeld, unlist } from "./held-by-client.ts";
import { goneOf, isCollection, lookUp, removal } from "./lookup.ts";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";

/** The options of {@link answerOf}. */
export interface AnswerOptions {
  /** The revision after which removals have to be sent to the client. */
  readonly since: number;
  /** The revision up to which removals can be sent. */
  readonly removeUpTo: number;
  /** Returns true if a removal of this name already waits. */
  readonly isHeld: (entry: Entry) => boolean;
}

/**
 * Returns the first answer of a topic: its present members, without those that the client listed in
 * exactly that version (S-RECON-4). A name that did not exist before either has the form that the
 * client understands (S-MISS-1, S-MISS-2).
 * {@link removedSince} returns the names that were removed after `since`. Names that the client may
 * not lose yet are in {@link leftovers}, or wait.
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
  // The removal of a name that the client may have is sent after the names that refer to it
  // (S-ORD-3).
  const isListed = state.initial?.has(nameKey(only.name)) === true;
  if ((isListed && state.sent > removeUpTo) || isHeld(only)) return [];
  return isRemoval(only, since) ? [] : missing(state, only, members);
}

/** Returns the removals of names that the topic covered and the client may have. */
export function removedSince(state: DeltaState, topic: Topic, since: number): readonly Entry[] {
  const { name } = topic.interest;
  if (!isCollection(name)) return removedOf(topic).filter((entry) => isRemoval(entry, since));
  return since === NONE_HELD
    ? forgotten(state, topic)
    : topic.removed().filter((entry) => isRemoval(entry, since));
}

const NONE: readonly Entry[] = [];

/**
 * Returns the removed variants of a name with variants; for another name, the entry without a
 * resource.
 */
function removedOf(topic: Topic): readonly Entry[] {
  const gone = topic.gone?.(topic.interest.name) ?? NONE;
  return gone.length > 0 ? gone : topic.members().filter(({ resource }) => resource === undefined);
}

/** Returns true if {@link leftovers} may return something: all topics have been answered. */
export function hasLeftovers({ initial, unsettled, unanswered }: DeltaState): boolean {
  return initial !== undefined && initial.size > 0 && unsettled.size === 0 && unanswered.size === 0;
}

/**
 * Returns removals of the names that the client listed and that no subscription covers any more, or
 * that do not exist. They are sent when all topics have been answered (S-RECON-4).
 */
export function leftovers(state: DeltaState): readonly Entry[] {
  const { initial, unsettled } = state;
  if (initial === undefined || unsettled.size > 0) return [];
  state.initial = undefined;
  const gone = [...initial.values()].filter(
    ({ name }) => !isCollection(name) && lookUp(state, name)?.resource === undefined,
  );
  return gone.flatMap(({ name }) => removalsOf(state, name));
}

/**
 * Returns the removals of a name that the client listed. It is not known which variant the client
 * has, so the removals of all removed variants are sent (S-DYN-5).
 */
function removalsOf(state: DeltaState, name: string): readonly Entry[] {
  const gone = goneOf(state, name);
  return gone.length > 0 ? gone : [removal(state, name)];
}

/**
 * Returns the removals of variants of listed names that another variant, or the resource without
 * constraints, has replaced.
 */
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

/**
 * By topic, since topics of several policies may share an array of members but not their removals.
 */
const replacing = new WeakMap<
  Topic,
  { readonly members: readonly Entry[]; readonly found: readonly Entry[] }
>();

/**
 * Returns the members of a topic whose name also has a removal: they have replaced a variant.
 * Computed once per array, which streams without dynamic parameters share, and in one pass, since
 * the look-up of each name may cost a pass over all removals.
 */
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

/**
 * Returns the members without those that the client listed in the same version, computed once for
 * all clients that sent the same list.
 */
function withoutListed(
  state: DeltaState,
  list: HeldList,
  members: readonly Entry[],
): readonly Entry[] {
  const { rest, left } = compareHeld(list, members);
  state.initial = left;
  return rest;
}

/**
 * Returns what was removed from a glob while the client was away, for clients that do not list its
 * members (S-RECON-10).
 */
function forgotten({ initial, quirks }: DeltaState, topic: Topic): readonly Entry[] {
  const glob = nameKey(topic.interest.name);
  if (!quirks.forgetsGlobMembers || glob === "*") return [];
  return initial?.keys().some((name) => globOf(name) === glob) === true ? [] : topic.removed();
}

/**
 * Returns the entries for a name that does not exist. If the client listed it, it is removed, not
 * missing.
 */
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

/**
 * Returns the entry of a missing name as a `Resource` without a body; the same object each time.
 */
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

/**
 * Notes that the client came back and already has all of these members except `rest`. The time of
 * those with a TTL has run on, so a heartbeat is due (C-TTL-6).
 */
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

/**
 * Encodes a `Resource` with the name, also as its alias, and without a body: the answer to an
 * on-demand look-up of a virtual host that does not exist (S-MISS-2).
 */
export function encodeEmptyResource(name: string): Uint8Array {
  return concatBytes([lengthDelimited(NAME, name), lengthDelimited(ALIASES, name)]);
}
