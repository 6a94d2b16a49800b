import type { Topic } from "@xdstp/core";

/** Where the entries of a response came from: enough to send them again, as they are by then, without keeping them. */
export interface Origin {
  /** Topics of which everything was sent. */
  readonly answered: ReadonlySet<Topic>;
  /** Topics of which the changes since the base were sent. */
  readonly changed: ReadonlySet<Topic>;
  /** Names sent one by one. */
  readonly named: ReadonlySet<string>;
}

/** Where either came from. */
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

/** The changes of one topic: what nearly every response comes from, so there is one such object for all streams. */
export function changedOrigin(topic: Topic): Origin {
  let origin = changedOrigins.get(topic);
  if (origin === undefined)
    changedOrigins.set(
      topic,
      (origin = { answered: NOTHING, changed: new Set([topic]), named: NOTHING }),
    );
  return origin;
}

/** All of one topic: what most first responses come from. */
export function answeredOrigin(topic: Topic): Origin {
  let origin = answeredOrigins.get(topic);
  if (origin === undefined)
    answeredOrigins.set(
      topic,
      (origin = { answered: new Set([topic]), changed: NOTHING, named: NOTHING }),
    );
  return origin;
}
