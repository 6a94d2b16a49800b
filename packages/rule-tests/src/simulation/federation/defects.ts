import { forwardSink, type Interest, type ResourceSink } from "@xdstp/core";

/** A defect of every client of a world, put around it from outside. Absent parts change nothing. */
export interface FederationDefect {
  /** Changes the sink of a client. */
  readonly sink?: (sink: ResourceSink) => ResourceSink;
  /** Changes the list of dropped interests that a client receives. */
  readonly dropped?: (dropped: readonly Interest[]) => readonly Interest[];
}

/** Presents the resources of one server to the others too. */
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
