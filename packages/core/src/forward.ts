import type { ResourceSource } from "./source.ts";
import type { ResourceSink } from "./feed.ts";

/**
 * Creates a source that forwards every member to another one, except those in `changes`. Members
 * are read each time they are used, so `revision` and `ready` stay current; the same holds for
 * getters in `changes`.
 *
 * @param changes - Members that replace those of the source. A member that is `undefined` is
 * absent: `{ viewOf: undefined }`
 */
export function forwardSource(
  source: ResourceSource,
  changes: Readonly<Partial<ResourceSource>>,
): ResourceSource {
  // `satisfies` checks this against all members: a new member does not compile until it is
  // forwarded.
  const forwarded = {
    get revision() {
      return source.revision;
    },
    get ready() {
      return source.ready;
    },
    get authorities() {
      return source.authorities;
    },
    get viewOf() {
      return source.viewOf;
    },
    get viewKey() {
      return source.viewKey;
    },
    changedBy: (revision) => source.changedBy?.(revision) ?? true,
    descriptor: (typeUrl) => source.descriptor(typeUrl),
    serves: (typeUrl) => source.serves(typeUrl),
    topic: (typeUrl, interest) => source.topic(typeUrl, interest),
    asOf: (typeUrl, name, revision) => source.asOf?.(typeUrl, name, revision),
  } satisfies EveryMember<ResourceSource>;
  return Object.defineProperties(forwarded, Object.getOwnPropertyDescriptors(changes));
}

/**
 * All members of an interface, each required: an object that satisfies it does not compile while a
 * member is missing.
 */
type EveryMember<Contract> = {
  readonly [Member in keyof Required<Contract>]: Contract[Member];
};

/**
 * Creates a sink that forwards every member to another one, except those that `changes` returns.
 * Each part of the sink is wrapped in the same way.
 *
 * @param changes - Called with the sink, and with each part of it when the part is created. Members
 * of the result replace those of that sink
 */
export function forwardSink(
  sink: ResourceSink,
  changes: (sink: ResourceSink) => Readonly<Partial<Omit<ResourceSink, "part">>>,
): ResourceSink {
  // `satisfies` checks this against all members: a new member does not compile until it is
  // forwarded.
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
  // The `checkCommit` of the sink does not know what a replaced `commit` rejects.
  if (own.commit !== undefined) forwarded.checkCommit = undefined;
  return Object.defineProperties(forwarded, Object.getOwnPropertyDescriptors(own));
}
