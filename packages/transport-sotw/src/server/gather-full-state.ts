import type { Entry, Topic } from "@xdstp/core";
import {
  changedOrigin,
  hashOf,
  isDataError,
  versionOf,
  coveringTopic,
  mergeEntries,
  topicsOf,
} from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { Gone, SotwState, Gathered } from "./sotw-state.ts";
import { endStay, isNameOfNothing, letsStay, mayStay, noteStay } from "./stay.ts";
import { unionOf, freshOf } from "./compare-states.ts";

/**
 * Takes everything that exists of the subscription (S-FULL-1). Names that were removed after
 * `removeUpTo`, or that are still subscribed by name, stay in it in the state that was shown
 * before.
 */
export function gatherFullState(state: SotwState, removeUpTo: number): Gathered {
  const due = isDue(state);
  const settled = [...state.topics.values()].filter((topic) => !state.unsettled.has(topic));
  const stays = letsStay(state, settled);
  const all = removeUpTo === Infinity && !stays;
  const [only] = settled;
  if (only !== undefined && all && state.topics.size === 1) return gatherOne(state, only, due);
  const members = membersOf(state, settled);
  const isKept = (name: string): boolean =>
    (stays && mayStay(state, name)) ||
    (coveringTopic(state, name) !== undefined && isGone(state, name, removeUpTo));
  const heldBase = heldBaseOf(state);
  const entries = all ? members : unionOf(members, heldBy(state), isKept);
  const fresh = freshIn(state, entries);
  const past = entries === members ? [] : pastOf(members, entries);
  const gone = goneOf(state, past, removeUpTo);
  noteStay(state, stays ? subscribedPast(state) : [], (name) => goneOnce(state, name).base);
  take(state, gone);
  return {
    entries,
    fresh,
    due,
    ...startOf(state, due),
    heldBase,
    origin: { answered: new Set(settled), changed: new Set(), named: new Set() },
    hash: undefined,
    version: entries === members ? currentVersion(settled, members) : versionOf(hashOf(entries)),
  };
}

/** Takes the full state in the usual case: a single topic, such as the wildcard. */
function gatherOne(state: SotwState, topic: Topic, due: boolean): Gathered {
  const entries = topic.members();
  const fresh = freshIn(state, entries);
  const heldBase = heldBaseOf(state);
  take(state, NOTHING_GONE);
  endStay(state);
  return {
    entries,
    fresh,
    due,
    ...startOf(state, due),
    heldBase,
    origin: changedOrigin(topic),
    hash: undefined,
    version: topic.label ?? versionOf(topic.hash),
  };
}

/**
 * Returns the revision after which the client may miss changes. A full state replaces rejected
 * content, so that counts too.
 */
function startOf({ exchange }: SotwState, due: boolean): Pick<Gathered, "asked" | "base"> {
  const { accepted, rejected } = exchange;
  return {
    asked: due || rejected?.asked === true,
    base: Math.min(accepted, rejected?.base ?? accepted),
  };
}

function freshIn(state: SotwState, entries: readonly Entry[]): readonly Entry[] {
  return state.type?.warms === undefined ? entries : freshOf(entries, heldBy(state));
}

/** Returns what the client has: nothing of what it rejected counts (S-ACK-8). */
export function heldBy({ shown, kept, exchange: { rejected } }: SotwState): readonly Entry[] {
  return rejected === undefined ? shown : kept;
}

/**
 * Returns true if a full state can be sent. A pending name is never left out, except that a client
 * without any resources does not wait for ever (S-STREAM-9).
 */
export function isComplete(state: SotwState): boolean {
  const { unanswered, impatient, answered } = state;
  return (
    !isWaiting(state) ||
    (impatient &&
      !answered &&
      [...unanswered].some((topic) =>
        topic.members().some(({ resource }) => resource !== undefined),
      ))
  );
}

/** Returns true if a subscribed name is not known yet, or cannot be sent. */
export function isWaiting(state: SotwState): boolean {
  return state.unsettled.size > 0 || hasUntold(state);
}

/**
 * Returns true if a first full state has to wait: a name has only a transient error, and the
 * client, which is not known to read errors, may have a copy. It may have one if it came with a
 * version, or if none of its names exists.
 * A first full state without the name would delete the copy (B-ERR-6).
 */
function hasUntold({ answered, returning, quirks, topics }: SotwState): boolean {
  if (answered || quirks.readsErrors || !topics.values().some(isUntold)) return false;
  return (
    returning ||
    !topics.values().some((topic) => topic.members().some(({ resource }) => resource !== undefined))
  );
}

function isUntold(topic: Topic): boolean {
  return isNameOfNothing(topic) && !isDataError(topic.members()[0]?.error);
}

/** Returns the version of everything that exists of the subscription. */
export function currentVersion(topics: readonly Topic[], members: readonly Entry[]): string {
  const only = topics.length === 1 ? topics[0] : undefined;
  return only?.label ?? versionOf(only?.hash ?? hashOf(members));
}

/**
 * Returns true if a response is due even without changes: new names are answered, and the first
 * response is sent even if it is empty (S-WILD-7). Other names that are to be sent do not cause a
 * repetition of rejected content (S-ACK-8).
 */
function isDue(state: SotwState): boolean {
  const { answered, unanswered, exchange } = state;
  return !answered || unanswered.size > 0 || (exchange.rejected === undefined && owesNew(state));
}

/**
 * Returns true if a name has to be sent that does not wait. A name that has waited may have to wait
 * again by now, and then the state equals the one that was sent (S-ACK-11).
 */
function owesNew({ owed, heldBack }: SotwState): boolean {
  return heldBack.size === 0
    ? owed.size > 0
    : [...owed].some((name) => !heldBack.has(nameKey(name)));
}

function membersOf(state: SotwState, topics: readonly Topic[]): readonly Entry[] {
  const [first, second] = topics;
  if (first === undefined) return [];
  return second === undefined
    ? first.members()
    : mergeEntries(
        state,
        topics.map((topic) => topic.members()),
      );
}

const NOTHING_GONE: ReadonlyMap<string, Gone> = new Map();

/**
 * Returns when the removal of a name was first seen, which may be now. Of a name that has waited
 * the client has an older state.
 */
function goneOnce({ gone, context, sent, heldBack }: SotwState, name: string): Gone {
  const key = nameKey(name);
  return (
    gone.get(key) ?? {
      revision: context.source.revision,
      base: Math.min(sent, heldBack.get(key)?.from ?? sent),
    }
  );
}

/**
 * Returns true if a removed name still waits until no resource refers to it. A name that only stays
 * has already waited for that, or long enough.
 */
function isGone(state: SotwState, name: string, removeUpTo: number): boolean {
  const key = nameKey(name);
  return (
    (state.gone.has(key) || !state.stay.has(key)) && goneOnce(state, name).revision > removeUpTo
  );
}

/**
 * Returns the revision of the oldest state that the client may have of a removed name that is still
 * shown; Infinity: none is.
 */
export function heldBaseOf({ gone, stay }: SotwState): number {
  return Math.min(oldestBase(gone), oldestBase(stay));
}

function oldestBase(names: ReadonlyMap<string, Pick<Gone, "base">>): number {
  return names.values().reduce((oldest, { base }) => Math.min(oldest, base), Infinity);
}

/** Returns the names that are shown and do not exist any more. */
function pastOf(members: readonly Entry[], entries: readonly Entry[]): readonly string[] {
  const present = new Set(members);
  return entries.filter((entry) => !present.has(entry)).map(({ name }) => name);
}

/**
 * Returns removed names that the client has and is subscribed to. While it has not accepted a state
 * without such a name, it still has the name.
 */
function subscribedPast(state: SotwState): readonly string[] {
  const { exchange, kept } = state;
  return [...heldBy(state), ...(exchange.inFlight === undefined ? [] : kept)]
    .flatMap(({ name, resource }) => (resource === undefined ? [] : name))
    .filter((name) => {
      const topics = topicsOf(state, nameKey(name));
      return topics.length > 0 && topics.every(isNameOfNothing);
    });
}

/** Returns those of these names that wait until no resource refers to them. */
function goneOf(
  state: SotwState,
  past: readonly string[],
  removeUpTo: number,
): ReadonlyMap<string, Gone> {
  if (past.length === 0) return NOTHING_GONE;
  return new Map(
    past
      .filter((name) => isGone(state, name, removeUpTo))
      .map((name) => [nameKey(name), goneOnce(state, name)] as const),
  );
}

function take(state: SotwState, gone: ReadonlyMap<string, Gone>): void {
  state.unanswered.clear();
  state.dirty.clear();
  state.owed.clear();
  state.gone = gone;
  state.sent = state.context.source.revision;
}

/**
 * Returns true if a full state is withheld. A client that comes back lists by name what it has. If
 * some of that was removed, a full state would delete it at once, so none is sent until no resource
 * refers to it (S-ORD-3).
 */
export function isWithheld(state: SotwState): boolean {
  const { returning, topics, type } = state;
  return (
    returning &&
    type?.fullStateInSotw === true &&
    !isWaiting(state) &&
    topics.values().some(isNameOfNothing)
  );
}
