import { forwardSink, type Interest, type ResourceSink } from "@xdstp/core";

/** Something that is wrong with every client end of a world, put around it from outside. Absent parts change nothing. */
export interface FederationDefect {
  /** What a client end is given. */
  readonly sink?: (sink: ResourceSink) => ResourceSink;
  /** What it hears to be wanted no more. */
  readonly dropped?: (dropped: readonly Interest[]) => readonly Interest[];
}

/** What one server has given is presented to the others too. */
export function presentToAll(): FederationDefect {
  const sinks = new Set<ResourceSink>();
  return {
    sink(sink) {
      sinks.add(sink);
      return forwardSink(sink, () => ({
        held: (typeUrl, interest) =>
          interest === undefined
            ? new Map(
                [...sinks].flatMap((one) =>
                  Array.from(one.held(typeUrl), (held) => [held.name, held] as const),
                ),
              ).values()
            : sink.held(typeUrl, interest),
      }));
    },
  };
}

/** Names that redirects led to go on being subscribed. */
export function neverUnsubscribe(): FederationDefect {
  return { dropped: (dropped) => dropped.filter(({ name }) => name.endsWith("*")) };
}
