import { type Interest, StatusCode, type Topic } from "@xdstp/core";
import {
  excessOfNames,
  type StreamLimits,
  subscriptionKey,
  beginSubscription,
} from "@xdstp/protocol/server";
import { globOf, isGlob, nameKey } from "@xdstp/uri";
import type { DeltaRequest } from "./decode-request.ts";
import { NONE_HELD, type DeltaState } from "./delta-state.ts";
import { oweKnownMembers } from "./known-members.ts";
import { isCollection } from "./lookup.ts";
import { oweOpenError } from "./open-error.ts";
import { answerRepeated } from "./answer-again.ts";

/** The number of subscriptions that a request ends. They do not count against the names that the same request adds. */
export interface Leaving {
  readonly names: number;
  readonly globs: number;
}

const NONE_LEAVE: Leaving = { names: 0, globs: 0 };

/** Counts the subscriptions of the stream that the request ends. */
export function leavingWith(
  { topics }: DeltaState,
  { unsubscribe, unlocate }: Pick<DeltaRequest, "unsubscribe" | "unlocate">,
): Leaving {
  if (unsubscribe.length + unlocate.length === 0) return NONE_LEAVE;
  const keys = new Set([...unsubscribe.map(nameKey), ...unlocate.map(subscriptionKey)]);
  const left = [...keys].flatMap((key) => topics.get(key) ?? []);
  return {
    names: left.length,
    globs: left.filter(({ interest: { name } }) => isGlob(name)).length,
  };
}

/**
 * Adds a name. Every name in a subscribe list is answered, even one that the server believes the
 * client to have (S-DSUB-3).
 * @returns false if a limit is exceeded and the stream has ended (S-LIM-4)
 */
export function subscribe(state: DeltaState, name: string, leaving: Leaving = NONE_LEAVE): boolean {
  const excess = excessOfNames([name], [], state.context.limits);
  if (excess !== undefined) return reject(state, excess);
  const key = nameKey(name);
  const held = state.topics.get(key);
  if (held !== undefined) {
    answerRepeated(state, held);
    return true;
  }
  const tooMany = excessOf(state, name, leaving);
  if (tooMany !== undefined) return reject(state, tooMany);
  begin(state, { name });
  return true;
}

/**
 * Adds a name with dynamic parameters. The same name with other parameters is another subscription,
 * as TP2 allows for caching proxies.
 */
export function locate(
  state: DeltaState,
  interest: Interest,
  leaving: Leaving = NONE_LEAVE,
): boolean {
  const excess =
    excessOfNames([], [interest], state.context.limits) ??
    (state.topics.has(subscriptionKey(interest))
      ? undefined
      : excessOf(state, interest.name, leaving));
  if (excess !== undefined) return reject(state, excess);
  const held = state.topics.get(subscriptionKey(interest));
  if (held !== undefined) answerRepeated(state, held);
  else begin(state, interest);
  return true;
}

function reject({ host }: DeltaState, excess: Excess): false {
  host.end(StatusCode.RESOURCE_EXHAUSTED, ...excess);
  return false;
}

type Excess = readonly [message: string, limit: keyof StreamLimits];

function excessOf(
  { context: { limits }, topics, globs }: DeltaState,
  name: string,
  leaving: Leaving,
): Excess | undefined {
  if (topics.size - leaving.names >= limits.subscriptions)
    return [`more than ${limits.subscriptions} subscriptions of one type`, "subscriptions"];
  return globs - leaving.globs >= limits.globs && isGlob(name)
    ? [`more than ${limits.globs} globs of one type`, "globs"]
    : undefined;
}

function begin(state: DeltaState, interest: Interest): void {
  const { name } = interest;
  const mayHave = state.answered && (isCollection(name) || isInCollection(state, name));
  const topic = beginSubscription(state, interest);
  if (isGlob(name)) state.globs++;
  const waiting = topic.settled ? state.unanswered : state.unsettled;
  waiting.set(topic, mayHave || (state.answered && hasVariants(topic)) ? state.sent : NONE_HELD);
  if (waiting === state.unsettled) {
    oweOpenError(state, topic);
    oweKnownMembers(state, topic);
  }
}

/**
 * Returns true if a subscribed collection has sent the name, or will. Its removal then waits like
 * others, even if the collection is unsubscribed before (S-ORD-3).
 */
function isInCollection({ topics, globs }: DeltaState, name: string): boolean {
  if (topics.get("*")?.get(name) !== undefined) return true;
  const glob = globs === 0 ? undefined : globOf(name);
  return glob !== undefined && topics.get(glob)?.get(name) !== undefined;
}

/**
 * Returns true if a name may have variants. A variant that another subscription sent is not removed
 * by the plain name, as a resource without constraints is (S-DYN-5).
 */
function hasVariants(topic: Topic): boolean {
  const { name, parameters } = topic.interest;
  return (
    parameters !== undefined ||
    topic.members()[0]?.resource?.constraints !== undefined ||
    (topic.gone?.(name) ?? []).length > 0
  );
}
