import {
  forwardSink,
  type Interest,
  type ResourceFeed,
  type ResourceSink,
  type ResourceType,
} from "@xdstp/core";
import { isGlob } from "@xdstp/uri";

/**
 * Wraps a feed: a transient error of one name is also sent to clients, if nothing is cached of the
 * name (B-RELAY-13). Otherwise the name would stay pending, and clients would not know why.
 * In `resource_errors` such an error removes nothing (S-ERR-3). For a type whose absence in a SotW
 * response deletes (S-FULL-1), it would remove the resource from a client that does not read
 * errors, so names of these types stay pending.
 */
export function tellErrors(feed: ResourceFeed, types: readonly ResourceType[]): ResourceFeed {
  const silent = new Set(
    types.filter(({ fullStateInSotw }) => fullStateInSotw).map(({ typeUrl }) => typeUrl),
  );
  return {
    run: async (sink, signal) => feed.run(telling(sink, silent), signal),
    want: (...updates) => {
      feed.want?.(...updates);
    },
  };
}

function telling(given: ResourceSink, silent: ReadonlySet<string>): ResourceSink {
  /** A resource is cached in one of the parts: in the sink of the source that has sent it. */
  const parts: ResourceSink[] = [];
  return forwardSink(given, (sink) => {
    parts.push(sink);
    return {
      unavailable(scope, error) {
        const { typeUrl, interest } = scope;
        sink.unavailable(scope, error);
        if (
          error === undefined ||
          typeUrl === undefined ||
          interest === undefined ||
          isCollection(interest) ||
          silent.has(typeUrl)
        )
          return;
        if (parts.some((part) => isHeld(part, typeUrl, interest))) return;
        void sink.commit({ remove: [{ typeUrl, name: interest.name, error }] });
      },
    };
  });
}

function isCollection({ name }: Interest): boolean {
  return name === "*" || isGlob(name);
}

function isHeld(sink: ResourceSink, typeUrl: string, interest: Interest): boolean {
  for (const _ of sink.held(typeUrl, interest)) return true;
  return false;
}
