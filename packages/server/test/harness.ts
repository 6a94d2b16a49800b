import { createCache, type Cache, type CacheOptions } from "@xdstp/cache";
import {
  forwardSource,
  type ByteStreamHandler,
  type ResourceSource,
  type Topic,
} from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import { envoyTypes } from "@xdstp/resource-types";
import {
  createFakeClock,
  createManualScheduler,
  createMemoryStream,
  type FakeClock,
  type MemoryStream,
} from "@xdstp/testing";
import {
  createServer,
  type ServerEvent,
  type ServerOptions,
  type XdsServer,
} from "../src/index.ts";
import { createClient, type NodeInit, type TestClient } from "./client.ts";

const ADS = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const CDS = "envoy.service.cluster.v3.ClusterDiscoveryService";

/** The methods of each variant. Clusters represent every type that has a service of its own. */
export const paths = {
  "delta/ads": `/${ADS}/DeltaAggregatedResources`,
  "sotw/ads": `/${ADS}/StreamAggregatedResources`,
  "delta/per-type": `/${CDS}/DeltaClusters`,
  "sotw/per-type": `/${CDS}/StreamClusters`,
} as const;
export const fetchPath = `/${CDS}/FetchClusters`;

export type VariantName = keyof typeof paths;
export const variants = Object.keys(paths) as readonly VariantName[];
export const adsVariants = ["delta/ads", "sotw/ads"] as const satisfies readonly VariantName[];
export const perTypeVariants = [
  "delta/per-type",
  "sotw/per-type",
] as const satisfies readonly VariantName[];

export const types = {
  cluster: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  assignment: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  route: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  virtualHost: "type.googleapis.com/envoy.config.route.v3.VirtualHost",
  listener: "type.googleapis.com/envoy.config.listener.v3.Listener",
  secret: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
  own: "type.googleapis.com/acme.v1.Flag",
} as const;

/** A call in memory with a client on it. */
export type OpenCall = TestClient &
  Pick<
    MemoryStream,
    "fill" | "drain" | "end" | "cancel" | "closed" | "unread" | "paused" | "send" | "take"
  >;

export interface Harness {
  readonly server: XdsServer;
  readonly clock: FakeClock;
  readonly events: ServerEvent[];
  /** The kinds of the events, and the clients and types that they concern. */
  readonly kinds: () => readonly string[];
  /** Runs the event loop until nothing is left to do. */
  readonly turn: () => void;
  readonly open: (variant: VariantName, node?: NodeInit) => OpenCall;
  readonly openPath: (path: string, node?: NodeInit) => OpenCall;
}

/** A server without I/O. The test controls its clock and its scheduler. */
export function serve(source: ResourceSource, options: Partial<ServerOptions> = {}): Harness {
  const events: ServerEvent[] = [];
  const clock = createFakeClock();
  const turns = createManualScheduler();
  const server = createServer({
    source,
    clock,
    scheduler: createScheduler({ later: turns.later }),
    onEvent: (event) => {
      events.push(event);
    },
    ...options,
  });
  const openPath: Harness["openPath"] = (path, node) => {
    const wire = createMemoryStream((out) => {
      const answer = server.accept(path, "192.0.2.1:5", out);
      if (!("code" in answer)) return answer;
      out.close(answer);
      return deaf;
    });
    const client = createClient(wire, path.includes("/Delta") ? "delta" : "sotw", node);
    return Object.assign(wire, {
      ask: client.ask,
      drop: client.drop,
      next: client.next,
      ack: client.ack,
      nack: client.nack,
    });
  };
  return {
    server,
    clock,
    events,
    openPath,
    kinds: () => events.map(({ kind }) => kind),
    turn() {
      turns.run();
    },
    open: (variant, node) => openPath(paths[variant], node),
  };
}

const deaf: ByteStreamHandler = {
  onMessage: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};

/** Creates a cache that has Envoy's types and is ready. */
export function readyCache(options: CacheOptions = {}): Cache {
  const cache = createCache({ types: envoyTypes, ...options });
  cache.commit({});
  return cache;
}

/** Returns the same source with some members replaced. */
export function sourceWith(
  source: ResourceSource,
  changes: { readonly topic?: ResourceSource["topic"]; readonly ready?: () => boolean },
): ResourceSource {
  return forwardSource(source, {
    ...(changes.topic && { topic: changes.topic }),
    get ready() {
      return changes.ready === undefined ? source.ready : changes.ready();
    },
  });
}

/** Returns a source on which the topic of one name is this topic. */
export function sourceWithTopic(
  source: ResourceSource,
  name: string,
  topic: (real: Topic) => Topic,
): ResourceSource {
  return sourceWith(source, {
    topic(typeUrl, interest) {
      const real = source.topic(typeUrl, interest);
      return interest.name === name ? topic(real) : real;
    },
  });
}

/** Creates a topic whose only changes are those that the test makes. */
export function topicWith(changes: Partial<Topic>): Topic {
  return {
    interest: { name: "x" },
    settled: true,
    head: 0,
    hash: 0,
    changes: () => [],
    members: () => [],
    get: () => undefined,
    removed: () => [],
    watch: () => undefined,
    unwatch: () => undefined,
    ...changes,
  };
}
