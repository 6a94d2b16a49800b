import type { Topic } from "@xdstp/core";

/**
 * The origin of the entries of a response. It suffices to send them again in their newest state,
 * without keeping the entries.
 */
export interface Origin {
  /** Topics that were sent completely. */
  readonly answered: ReadonlySet<Topic>;
  /** Topics of which the changes since the base were sent. */
  readonly changed: ReadonlySet<Topic>;
  /** Names that were sent one by one. */
  readonly named: ReadonlySet<string>;
}

/** Joins two origins. */
export function joinOrigins(a: Origin, b: Origin): Origin {
  return {
    answered: a.answered.union(b.answered),
    changed: a.changed.union(b.changed),
    named: a.named.union(b.named),
  };
}

const NOTHING: ReadonlySet<never> = new Set();
const changedOrigins = new WeakMap<Topic, Origin>();
const answeredOrigins = new WeakMap<Topic, Origin>();

/**
 * Returns the origin of a response with the changes of one topic. Nearly every response has such an
 * origin, so all streams share one object per topic.
 */
export function changedOrigin(topic: Topic): Origin {
  let origin = changedOrigins.get(topic);
  if (origin === undefined)
    changedOrigins.set(
      topic,
      (origin = { answered: NOTHING, changed: new Set([topic]), named: NOTHING }),
    );
  return origin;
}

/** Returns the origin of a response with all of one topic, as most first responses are. */
export function answeredOrigin(topic: Topic): Origin {
  let origin = answeredOrigins.get(topic);
  if (origin === undefined)
    answeredOrigins.set(
      topic,
      (origin = { answered: new Set([topic]), changed: NOTHING, named: NOTHING }),
    );
  return origin;
}
