import type { EveryMember } from "./every-member.ts";
import type { ResourceSink } from "./feed.ts";

/** The members that a wrapper of a sink replaces. Its parts are wrapped in the same way, so `part` is not among them. */
export type SinkChanges = Readonly<Partial<Omit<ResourceSink, "part">>>;

/**
 * A sink that forwards every member to another one, except those that `changes` returns. Each part of the sink is wrapped in the same way.
 *
 * @param changes - Called with the sink, and with each part of it when that is made. Own members of the result replace those of that sink
 */
export function forwardSink(
  sink: ResourceSink,
  changes: (sink: ResourceSink) => SinkChanges,
): ResourceSink {
  // Checked against every member: a new one does not compile until it is forwarded.
  const forwarded = {
    commit: (transaction) => sink.commit(transaction),
    checkCommit: sink.checkCommit && ((transaction) => sink.checkCommit?.(transaction) ?? []),
    prepare:
      sink.prepare &&
      ((resource) => {
        sink.prepare?.(resource);
      }),
    held: (typeUrl, interest) => sink.held(typeUrl, interest),
    unavailable: (scope, error) => {
      sink.unavailable(scope, error);
    },
    part: sink.part && (() => forwardSink(sink.part?.() ?? sink, changes)),
  } satisfies EveryMember<ResourceSink>;
  const own = changes(sink);
  // What another `commit` rejects, the sink does not know.
  if (own.commit !== undefined) forwarded.checkCommit = undefined;
  return Object.defineProperties(forwarded, Object.getOwnPropertyDescriptors(own));
}
