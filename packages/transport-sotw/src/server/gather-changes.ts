import type { Entry, Topic } from "@xdstp/core";
import {
  partition,
  type Rejected,
  takeRejected,
  topicsOf,
  versionOf,
  coveringTopics,
  coveringTopic,
  isSubscribed,
  stateHash,
  mergeEntries,
} from "@xdstp/protocol/server";
import type { SotwState, Gathered } from "./sotw-state.ts";

type Parts = (readonly Entry[])[];

/**
 * Takes what has changed and what is newly subscribed (S-FULL-2). In this form SotW has no
 * removals.
 */
export function gatherChanges(state: SotwState): Gathered {
  const parts: Parts = [];
  const due = isDue(state);
  const restart = restartRejected(state);
  const answered = takeAnswers(state, parts);
  const changed = takeChanges(state, restart?.base, parts);
  const named = takeOwed(state, parts);
  const hash = stateHash(state, [...answered, ...changed]);
  state.sent = state.context.source.revision;
  const filled = parts.map(sayable).filter((part) => part.length > 0);
  const entries =
    filled.length === 1 && filled[0] !== undefined ? filled[0] : mergeEntries(state, filled);
  return {
    entries,
    fresh: entries,
    origin: { answered, changed, named },
    base: restart?.base ?? state.exchange.accepted,
    asked: answered.size + named.size > 0,
    heldBase: Infinity,
    hash,
    version: labelOf([...answered, ...changed]) ?? versionOf(hash),
    due,
    ...(restart === undefined ? {} : { rejected: restart }),
  };
}

/**
 * Takes the answer to a wildcard without members as a response of its own, while more is pending
 * (S-WILD-7). A client cannot recognize that answer in a response with names: the server may have
 * sent such a response before it read the wildcard. The rest follows with the next response.
 */
export function gatherEmpty(state: SotwState): Gathered | undefined {
  const { unanswered, dirty, owed, exchange } = state;
  if (unanswered.size === 0 || exchange.rejected !== undefined) return undefined;
  if (unanswered.size + dirty.size + owed.size === 1) return undefined;
  const wildcard = topicsOf(state, "*").find(
    (topic) => unanswered.has(topic) && topic.members().length === 0,
  );
  if (wildcard === undefined) return undefined;
  unanswered.delete(wildcard);
  const hash = stateHash(state, [wildcard]);
  return {
    entries: [],
    fresh: [],
    origin: { answered: new Set([wildcard]), changed: new Set(), named: new Set() },
    base: exchange.accepted,
    asked: true,
    heldBase: Infinity,
    hash,
    version: wildcard.label ?? versionOf(hash),
    due: true,
  };
}

/**
 * Returns the entries with a resource or an error; the array itself if that is all of it. SotW has
 * no removals here.
 */
function sayable(part: readonly Entry[]): readonly Entry[] {
  const { additions, removals } = partition(part);
  const errors = removals.filter(({ error }) => error !== undefined);
  if (errors.length === 0) return additions;
  return errors.length === part.length ? part : [...additions, ...errors];
}

/**
 * Returns true if a response is sent even without content: to a new wildcard, and for a type that
 * is not served (S-FULL-5, S-WILD-7).
 */
function isDue(state: SotwState): boolean {
  const { answered, unanswered, context, typeUrl } = state;
  return (
    topicsOf(state, "*").some((topic) => unanswered.has(topic)) ||
    (!answered && !context.source.serves(typeUrl))
  );
}

/**
 * Puts rejected content back among what is pending, if the state to send may differ by now
 * (S-ACK-8).
 */
function restartRejected(state: SotwState): Rejected | undefined {
  const rejected = takeRejected(state.exchange, state.unanswered, state.owed);
  if (rejected === undefined) return undefined;
  const subscribed = (topic: Topic): boolean => isSubscribed(state, topic);
  for (const topic of rejected.answered) if (subscribed(topic)) state.unanswered.add(topic);
  for (const topic of rejected.changed) if (subscribed(topic)) state.dirty.add(topic);
  for (const name of rejected.named) state.owed.add(name);
  return rejected;
}

function takeAnswers(state: SotwState, parts: Parts): ReadonlySet<Topic> {
  const answered = new Set(state.unanswered);
  for (const topic of answered) {
    parts.push(topic.members());
    state.dirty.delete(topic);
  }
  state.unanswered.clear();
  return answered;
}

function takeChanges(state: SotwState, from: number | undefined, parts: Parts): ReadonlySet<Topic> {
  const changed = new Set(state.dirty);
  for (const topic of changed) parts.push(topic.changes(from ?? state.sent) ?? topic.members());
  state.dirty.clear();
  return changed;
}

function takeOwed(state: SotwState, parts: Parts): ReadonlySet<string> {
  const named = new Set(state.owed);
  for (const name of named) {
    for (const entry of lookUpAll(state, name)) parts.push([entry]);
  }
  state.owed.clear();
  return named;
}

/**
 * Returns the present entry of a name for each subscription that covers it: these may be shown
 * different variants.
 */
function lookUpAll(state: SotwState, name: string): readonly Entry[] {
  const covers =
    state.located === undefined ? [coveringTopic(state, name)] : coveringTopics(state, name);
  return [...new Set(covers.flatMap((topic) => topic?.get(name) ?? []))];
}

function labelOf(topics: readonly Topic[]): string | undefined {
  return topics.length === 1 ? topics[0]?.label : undefined;
}
