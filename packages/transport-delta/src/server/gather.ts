import type { Entry, Topic } from "@xdstp/core";
import {
  answeredOrigin,
  changedOrigin,
  partition,
  type Rejected,
  takeRejected,
  topicsOf,
  mergeEntries,
  isSubscribed,
  stateHash,
} from "@xdstp/protocol/server";
import { globOf, nameKey } from "@xdstp/uri";
import { noteAliases } from "./alias.ts";
import { NONE_HELD, type DeltaState, type Gathered } from "./delta-state.ts";
import { answerOf, type AnswerOptions, leftovers, removedSince } from "./first-answer.ts";
import { unlist } from "./held-by-client.ts";
import {
  dropRemovals,
  heldBaseOf,
  heldCheck,
  heldEntries,
  holdRemovals,
  splitAt,
  takeRemovals,
} from "./held-removals.ts";
import { goneOf, isCollection, isCovered, lookUp, lookUpAll } from "./lookup.ts";
import { openEntry } from "./open-error.ts";

type Parts = (readonly Entry[])[];

/**
 * Takes everything that is pending out of the state, with removals up to a revision. undefined: the
 * history that the client needs is not stored any more.
 */
export function gather(state: DeltaState, removeUpTo: number): Gathered | undefined {
  const first =
    state.unanswered.size === 0 ? undefined : (gatherEmpty(state) ?? gatherAnswer(state));
  if (first !== undefined) return first;
  const only = removeUpTo === Infinity ? onlyNews(state) : undefined;
  if (only !== undefined) return gatherOne(state, only);
  const parts: Parts = [];
  const heldBase = heldBaseOf(state);
  const restart = restartRejected(state);
  const changes = takeChanges(state, restart, removeUpTo, parts);
  if (changes === undefined) return undefined;
  const { changed, listed } = changes;
  const base = Math.min(restart?.base ?? state.exchange.accepted, heldSince(state));
  const answered = takeAnswers(state, removeUpTo, parts);
  const singles = takeHeld(state, removeUpTo);
  const owed = takeOwed(state, parts);
  const named = new Set([...listed, ...owed, ...singles.map(({ name }) => name)]);
  parts.push(singles);
  const replaced = takeReplaced(state, parts);
  if (replaced.length > 0) parts.push(replaced);
  for (const { name } of replaced) named.add(name); // it may be older than the rejected content that is sent again
  state.sent = state.context.source.revision;
  const filled = parts.filter((part) => part.length > 0);
  const hash = stateHash(state, [...answered, ...changed]);
  const single = filled.length === 1 && named.size === 0 && answered.size + changed.size === 1;
  return {
    entries:
      filled.length === 1 && filled[0] !== undefined ? filled[0] : mergeEntries(state, filled),
    origin: { answered, changed, named },
    base,
    asked: answered.size + named.size > 0,
    heldBase,
    label: single ? [...answered, ...changed][0]?.label : undefined,
    hash,
    ...(restart === undefined ? {} : { rejected: restart }),
  };
}

/**
 * Takes the answer to a wildcard without members as a response of its own, while more is pending
 * (S-WILD-7). A client cannot recognize that answer in a response with names: the server may have
 * sent such a response before it read the wildcard. The rest follows with the next response.
 */
function gatherEmpty(state: DeltaState): Gathered | undefined {
  const { unanswered, dirty, owed, held, initial, exchange } = state;
  if (unanswered.size === 0) return undefined;
  if (unanswered.size === 1 && dirty.size + owed.size + held.length === 0) return undefined;
  if (initial !== undefined || exchange.rejected !== undefined) return undefined;
  const wildcard = unanswered.keys().find(({ interest }) => interest.name === "*");
  if (wildcard === undefined || !isWithoutMembers(wildcard, unanswered.get(wildcard)))
    return undefined;
  unanswered.delete(wildcard);
  return {
    entries: [],
    origin: { answered: new Set([wildcard]), changed: new Set(), named: new Set() },
    base: exchange.accepted,
    asked: true,
    heldBase: Infinity,
    label: wildcard.label,
    hash: stateHash(state, [wildcard]),
  };
}

/** Returns true if a wildcard has no members, and has lost none that the client may have. */
function isWithoutMembers(wildcard: Topic, since = NONE_HELD): boolean {
  return (
    wildcard.members().length === 0 &&
    (since === NONE_HELD || wildcard.removed().every(({ revision }) => revision <= since))
  );
}

/**
 * Takes the usual first response: a new subscription is answered, and nothing else is pending.
 * Streams that are sent the same answer share its origin.
 */
function gatherAnswer(state: DeltaState): Gathered | undefined {
  const { unanswered, dirty, owed, held, initial, exchange, quirks } = state;
  if (unanswered.size > 1 || dirty.size + owed.size + held.length > 0) return undefined;
  if (initial !== undefined || exchange.rejected !== undefined) return undefined;
  const [topic] = unanswered.keys();
  if (topic === undefined || unanswered.get(topic) !== NONE_HELD || quirks.forgetsGlobMembers)
    return undefined;
  const entries = answerOf(state, topic, FIRST_ANSWER);
  unanswered.clear();
  state.sent = state.context.source.revision;
  return {
    entries,
    origin: answeredOrigin(topic),
    base: exchange.accepted,
    asked: true,
    heldBase: Infinity,
    label: entries.length === 0 ? undefined : topic.label,
    hash: stateHash(state, [topic]),
  };
}

/** The client has nothing that could have been removed. */
const FIRST_ANSWER: AnswerOptions = { since: NONE_HELD, removeUpTo: Infinity, isHeld: () => false };

/** Returns the topic in the usual case: one topic has changes, and nothing else is pending. */
function onlyNews({
  dirty,
  unanswered,
  owed,
  held,
  initial,
  exchange,
}: DeltaState): Topic | undefined {
  if (
    dirty.size !== 1 ||
    unanswered.size > 0 ||
    owed.size > 0 ||
    held.length > 0 ||
    initial !== undefined ||
    exchange.rejected !== undefined
  )
    return undefined;
  const [topic] = dirty;
  return topic;
}

function gatherOne(state: DeltaState, topic: Topic): Gathered | undefined {
  const entries = topic.changes(state.sent);
  if (entries === undefined) return undefined;
  state.dirty.clear();
  state.sent = state.context.source.revision;
  return {
    entries,
    origin: changedOrigin(topic),
    base: state.exchange.accepted,
    asked: false,
    heldBase: Infinity,
    label: topic.label,
    hash: stateHash(state, [topic]),
  };
}

/**
 * Takes the removals that have waited, up to a revision, without those that are replaced by a newer
 * entry or no longer subscribed; and the removals of listed names that no topic covers.
 */
export function takeHeld(state: DeltaState, upTo: number): readonly Entry[] {
  const taken = takeRemovals(state, upTo);
  const waited = taken.every((entry) => isDue(state, entry))
    ? taken
    : taken.filter((entry) => isDue(state, entry));
  const left = state.sent <= upTo ? leftovers(state) : [];
  return left.length === 0 ? waited : mergeEntries(state, [waited, left]);
}

function isDue(state: DeltaState, { name, superseded, constraints }: Entry): boolean {
  if (!isCovered(state, name)) return false;
  if (isCollection(name)) return isEmpty(state, name);
  if (constraints !== undefined) return !superseded;
  const { resource } = lookUp(state, name) ?? {};
  return resource === undefined || resource.constraints !== undefined; // a variant replaces it: without the removal the client would have both (S-DYN-5)
}

/**
 * Returns true if a collection is subscribed and has no members. An entry that says so may be from
 * a topic that has ended.
 */
function isEmpty(state: DeltaState, name: string): boolean {
  const topics = topicsOf(state, nameKey(name));
  return (
    topics.length > 0 &&
    topics.every(
      (topic) =>
        !state.unsettled.has(topic) &&
        topic.members().every(({ resource }) => resource === undefined),
    )
  );
}

/**
 * Puts rejected content back among what is pending, if the state to send may differ by now
 * (S-ACK-8).
 */
function restartRejected(state: DeltaState): Rejected | undefined {
  const rejected = takeRejected(state.exchange, state.unanswered.keys(), state.owed);
  if (rejected === undefined) return undefined;
  const subscribed = (topic: Topic): boolean => isSubscribed(state, topic);
  for (const topic of rejected.answered)
    if (subscribed(topic)) state.unanswered.set(topic, rejected.base);
  for (const topic of rejected.changed) {
    if (state.unanswered.has(topic)) state.unanswered.set(topic, rejected.base);
    else if (subscribed(topic)) state.dirty.add(topic);
  }
  for (const name of rejected.named)
    if (!isCollection(name) && isCovered(state, name)) state.owed.add(name);
  return rejected;
}

const NO_NAMES: readonly string[] = [];

/** The changes that were taken, and the changed names that the client had listed. */
interface Changes {
  readonly changed: ReadonlySet<Topic>;
  readonly listed: readonly string[];
}

function takeChanges(
  state: DeltaState,
  restart: Rejected | undefined,
  removeUpTo: number,
  parts: Parts,
): Changes | undefined {
  const changed = new Set<Topic>();
  const allListed: string[] = [];
  for (const topic of state.dirty) {
    if (state.unanswered.has(topic)) continue;
    const since = restart?.changed.has(topic) === true ? restart.base : state.sent;
    const entries = topic.changes(since);
    if (entries === undefined) return undefined;
    const listed = takeListed(state, entries);
    const base = listed === NO_NAMES ? since : NONE_HELD;
    parts.push(hold(state, entries, { base, removeUpTo }));
    for (const name of listed) parts.push(hold(state, goneOf(state, name), { base, removeUpTo }));
    for (const name of listed) allListed.push(name);
    changed.add(topic);
  }
  state.dirty.clear();
  return { changed, listed: allListed };
}

/**
 * Removes names that have changed from the list of the client, and returns them: the client learns
 * of their state with the change (S-RECON-4).
 * It is not known which state or variant of a name the client has, so the removals of all its
 * removed variants are sent (S-DYN-5), again if the response is rejected.
 */
function takeListed(state: DeltaState, entries: readonly Entry[]): readonly string[] {
  if (state.initial === undefined) return NO_NAMES;
  noteAliases(state, entries);
  const listed = entries.flatMap(({ name }) => (unlist(state, nameKey(name)) ? name : []));
  return listed.length === 0 ? NO_NAMES : listed;
}

/**
 * Keeps back the removals that are newer than a revision, and returns the other entries. `base`:
 * the client has a state of the removed names that is not older than this revision.
 */
function hold(
  state: DeltaState,
  entries: readonly Entry[],
  { base, removeUpTo }: { readonly base: number; readonly removeUpTo: number },
): readonly Entry[] {
  if (removeUpTo === Infinity) return entries;
  const { additions, removals } = partition(entries);
  const { older, newer } = splitAt(removals, removeUpTo);
  if (newer.length === 0) return entries;
  holdRemovals(state, newer, oldestOf(state, newer, base));
  return older.length === 0 ? additions : entries.filter((entry) => !newer.includes(entry));
}

/**
 * Returns the revision of the oldest state that the client may have of these names. A name that has
 * waited is older; its wait may end before its removal is sent, with the removal of another
 * variant.
 */
function oldestOf({ heldBack }: DeltaState, entries: readonly Entry[], base: number): number {
  if (heldBack.size === 0) return base;
  return entries.reduce(
    (oldest, { name }) => Math.min(oldest, heldBack.get(nameKey(name))?.from ?? base),
    base,
  );
}

/**
 * Takes the first answers. Removals of names that the client may have wait like others; a missing
 * name is sent at once (S-MISS-1, S-GLOB-3).
 */
function takeAnswers(state: DeltaState, removeUpTo: number, parts: Parts): ReadonlySet<Topic> {
  const answered = new Set(state.unanswered.keys());
  const isHeld = heldCheck(state);
  for (const [topic, since] of state.unanswered) {
    const answer = answerOf(state, topic, { since, removeUpTo, isHeld });
    const removed = removedSince(state, topic, since);
    const waits = since !== NONE_HELD && removed.some(({ revision }) => revision > removeUpTo);
    const mayLose = waits || listsMembers(state, topic, answer);
    // The entry of a collection that is empty now waits with the removals of its members.
    parts.push(
      mayLose && isCollection(topic.interest.name)
        ? hold(state, answer, { base: since, removeUpTo })
        : answer,
      waits ? hold(state, removed, { base: since, removeUpTo }) : removed,
    );
  }
  state.unanswered.clear();
  return answered;
}

/** Returns true if the client has listed members of a glob that is empty now (S-RECON-4). */
function listsMembers({ initial }: DeltaState, topic: Topic, [only]: readonly Entry[]): boolean {
  if (initial === undefined || only === undefined || only.resource !== undefined) return false;
  const glob = nameKey(topic.interest.name);
  return isCollection(glob) && initial.keys().some((name) => globOf(name) === glob);
}

/** Returns the earliest revision after which removals of the answered topics have to be sent. */
function heldSince({ unanswered }: DeltaState): number {
  return unanswered
    .values()
    .reduce(
      (earliest, since) => (since === NONE_HELD ? earliest : Math.min(earliest, since)),
      Infinity,
    );
}

function takeOwed(state: DeltaState, parts: Parts): ReadonlySet<string> {
  const named = new Set(state.owed);
  const isHeld = heldCheck(state);
  for (const name of state.owed) {
    const open = state.openErrors === undefined ? undefined : openEntry(state, nameKey(name));
    if (open !== undefined) {
      parts.push(asArray(open));
      continue;
    }
    const entries = owedEntries(state, name);
    const isGone = entries.every(({ resource }) => resource === undefined);
    const due = isGone ? entries.filter((entry) => !isHeld(entry)) : entries;
    for (const entry of due) parts.push(asArray(entry));
    if (due.length === 0 && entries.length > 0) named.delete(name); // it is sent when nothing refers to it any more (S-ORD-3)
  }
  state.owed.clear();
  return named;
}

/** Returns the removed variants of a name, and then its present state. */
function owedEntries(state: DeltaState, name: string): readonly Entry[] {
  const gone = goneOf(state, name);
  const entries =
    state.located === undefined ? asList(lookUp(state, name)) : (lookUpAll(state, name) ?? []);
  return gone.length === 0
    ? entries
    : [...gone, ...entries.filter(({ resource }) => resource !== undefined)];
}

function asList(entry: Entry | undefined): readonly Entry[] {
  return entry === undefined ? [] : [entry];
}

/**
 * Takes the waiting removals of variants whose replacement is sent, so that the client never has
 * both (S-DYN-5).
 */
function takeReplaced(state: DeltaState, parts: Parts): readonly Entry[] {
  if (state.held.length === 0) return [];
  const placed = new Map<string, boolean>();
  for (const { name, resource } of parts.flat())
    if (resource !== undefined)
      placed.set(
        nameKey(name),
        resource.constraints !== undefined || placed.get(nameKey(name)) === true,
      );
  const replaced = heldEntries(state).filter(
    ({ name, constraints, superseded }) =>
      !superseded &&
      (constraints === undefined ? placed.get(nameKey(name)) === true : placed.has(nameKey(name))),
  );
  dropRemovals(state, new Set(replaced));
  return replaced;
}

const arrays = new WeakMap<Entry, readonly Entry[]>();

/** Returns the entry as an array; the same array each time, so that streams share its frame. */
function asArray(entry: Entry): readonly Entry[] {
  let array = arrays.get(entry);
  if (array === undefined) arrays.set(entry, (array = [entry]));
  return array;
}
