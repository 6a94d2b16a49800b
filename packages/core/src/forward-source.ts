import type { EveryMember } from "./every-member.ts";
import type { ResourceSource } from "./source.ts";

/**
 * A source that forwards every member to another one, except those in `changes`. Members are read when they are used, so `revision` and `ready` stay live; so do getters in `changes`.
 *
 * @param changes - Own members replace those of the source. A member that is `undefined` is absent: `{ viewOf: undefined }`
 */
export function forwardSource(
  source: ResourceSource,
  changes: Readonly<Partial<ResourceSource>>,
): ResourceSource {
  // Checked against every member: a new one does not compile until it is forwarded.
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
    descriptor: (typeUrl) => source.descriptor(typeUrl),
    serves: (typeUrl) => source.serves(typeUrl),
    topic: (typeUrl, interest) => source.topic(typeUrl, interest),
    asOf: (typeUrl, name, revision) => source.asOf?.(typeUrl, name, revision),
  } satisfies EveryMember<ResourceSource>;
  return Object.defineProperties(forwarded, Object.getOwnPropertyDescriptors(changes));
}
