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

/** Everything that exists of the subscription (S-FULL-1). What went after `removeUpTo`, or is still asked for by name, stays in it, as it was shown before. */
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

/** The usual case: a wildcard, alone. */
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

/** Returns the revision after which the client may miss changes. A full state replaces rejected content, so that counts too. */
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

/** What the client has: nothing of what it rejected counts (S-ACK-8). */
export function heldBy({ shown, kept, exchange: { rejected } }: SotwState): readonly Entry[] {
  return rejected === undefined ? shown : kept;
}

/** A name that is merely pending is never left out, except that a client that holds nothing is not kept waiting for ever (S-STREAM-9). */
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

/** Something subscribed is not known yet, or cannot be sent. */
export function isWaiting(state: SotwState): boolean {
  return state.unsettled.size > 0 || hasUntold(state);
}

/**
 * Of a name there is only an error that will pass, and the client, which is not known to read errors, may have a copy: it has come with a version, or nothing that it asks for exists.
 * A first full state without the name would delete that (B-ERR-6).
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

/** The version of everything that exists of the subscription. */
export function currentVersion(topics: readonly Topic[], members: readonly Entry[]): string {
  const only = topics.length === 1 ? topics[0] : undefined;
  return only?.label ?? versionOf(only?.hash ?? hashOf(members));
}

/** New names are answered, also when they change nothing; the first response goes out even if it is empty (S-WILD-7). What is owed next to that is not a reason to say again what was rejected (S-ACK-8). */
function isDue(state: SotwState): boolean {
  const { answered, unanswered, exchange } = state;
  return !answered || unanswered.size > 0 || (exchange.rejected === undefined && owesNew(state));
}

/** A name that has waited is owed too. It may have to wait again by now, and then the state is equal to the one that was sent (S-ACK-11). */
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

/** The removal of a name as it was seen first, which may be now. The client has an older state of a name that has waited. */
function goneOnce({ gone, context, sent, heldBack }: SotwState, name: string): Gone {
  const key = nameKey(name);
  return (
    gone.get(key) ?? {
      revision: context.source.revision,
      base: Math.min(sent, heldBack.get(key)?.from ?? sent),
    }
  );
}

/** Whether a removed name waits until those who refer to it have let go. One that only stays has waited for them, or long enough. */
function isGone(state: SotwState, name: string, removeUpTo: number): boolean {
  const key = nameKey(name);
  return (
    (state.gone.has(key) || !state.stay.has(key)) && goneOnce(state, name).revision > removeUpTo
  );
}

/** Revision of the oldest state that the client may have of a removed name that is shown; Infinity: none is. */
export function heldBaseOf({ gone, stay }: SotwState): number {
  return Math.min(oldestBase(gone), oldestBase(stay));
}

function oldestBase(names: ReadonlyMap<string, Pick<Gone, "base">>): number {
  return names.values().reduce((oldest, { base }) => Math.min(oldest, base), Infinity);
}

/** Names of what is shown and does not exist any more. */
function pastOf(members: readonly Entry[], entries: readonly Entry[]): readonly string[] {
  const present = new Set(members);
  return entries.filter((entry) => !present.has(entry)).map(({ name }) => name);
}

/** Removed names that the client has and is subscribed to. It still has one that it was sent a state without, as long as it has not accepted that. */
function subscribedPast(state: SotwState): readonly string[] {
  const { exchange, kept } = state;
  return [...heldBy(state), ...(exchange.inFlight === undefined ? [] : kept)]
    .flatMap(({ name, resource }) => (resource === undefined ? [] : name))
    .filter((name) => {
      const topics = topicsOf(state, nameKey(name));
      return topics.length > 0 && topics.every(isNameOfNothing);
    });
}

/** What of it waits until those who refer to it have let go. */
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
 * A client that comes back lists what it has by its names. If some of it was removed, a full state would delete it at once:
 * there is none until those who refer to it have let go (S-ORD-3).
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
