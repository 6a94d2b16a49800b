import {
  forwardSink,
  type Interest,
  type ResourceFeed,
  type ResourceSink,
  type ResourceType,
} from "@xdstp/core";
import { isGlob } from "@xdstp/uri";

/**
 * The same feed. A transient error of one name is passed to clients as it came, where nothing is cached of the name (B-RELAY-13): to a client of its own such a name
 * would be pending, and its clients would not know why. In `resource_errors` it takes nothing from anyone (S-ERR-3); but where absence deletes (S-FULL-1) it would,
 * from a client that does not read errors, so names of such types stay pending.
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
  /** A resource is cached in one of the parts, the sink of the place that it comes from. */
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
