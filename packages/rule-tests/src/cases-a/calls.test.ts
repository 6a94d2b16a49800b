import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { type ByteStreamHandler, StatusCode } from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import {
  createFakeClock,
  createManualScheduler,
  createMemoryStream,
  type ManualScheduler,
  type MemoryStream,
} from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { payloadOf } from "../harness/payload.ts";
import { everyVariant, isDelta, type Variant } from "../harness/variant.ts";

const ADS = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Type, service, method of SotW, method of delta: as Envoy's API has them. */
const services = [
  [
    "envoy.config.listener.v3.Listener",
    "envoy.service.listener.v3.ListenerDiscoveryService",
    "StreamListeners",
    "DeltaListeners",
  ],
  [
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.service.route.v3.RouteDiscoveryService",
    "StreamRoutes",
    "DeltaRoutes",
  ],
  [
    "envoy.config.route.v3.ScopedRouteConfiguration",
    "envoy.service.route.v3.ScopedRoutesDiscoveryService",
    "StreamScopedRoutes",
    "DeltaScopedRoutes",
  ],
  [
    "envoy.config.route.v3.VirtualHost",
    "envoy.service.route.v3.VirtualHostDiscoveryService",
    undefined,
    "DeltaVirtualHosts",
  ],
  [
    "envoy.config.cluster.v3.Cluster",
    "envoy.service.cluster.v3.ClusterDiscoveryService",
    "StreamClusters",
    "DeltaClusters",
  ],
  [
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.service.endpoint.v3.EndpointDiscoveryService",
    "StreamEndpoints",
    "DeltaEndpoints",
  ],
  [
    "envoy.config.endpoint.v3.LbEndpoint",
    "envoy.service.endpoint.v3.LocalityEndpointDiscoveryService",
    undefined,
    "DeltaLocalityEndpoints",
  ],
  [
    "envoy.extensions.transport_sockets.tls.v3.Secret",
    "envoy.service.secret.v3.SecretDiscoveryService",
    "StreamSecrets",
    "DeltaSecrets",
  ],
  [
    "envoy.service.runtime.v3.Runtime",
    "envoy.service.runtime.v3.RuntimeDiscoveryService",
    "StreamRuntime",
    "DeltaRuntime",
  ],
  [
    "envoy.config.core.v3.TypedExtensionConfig",
    "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
    "StreamExtensionConfigs",
    "DeltaExtensionConfigs",
  ],
] as const;

const paths: Readonly<Record<Variant, string>> = {
  "delta/ads": `/${ADS}/DeltaAggregatedResources`,
  "sotw/ads": `/${ADS}/StreamAggregatedResources`,
  "delta/per-type": "/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters",
  "sotw/per-type": "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
};

interface Subject {
  readonly server: XdsServer;
  readonly cache: ReturnType<typeof createCache>;
  readonly turns: ManualScheduler;
  readonly open: (path: string) => MemoryStream;
}

/** A whole server without sockets. */
function serve(options: Partial<ServerOptions> = {}): Subject {
  const cache = createCache({ types: envoyTypes });
  const turns = createManualScheduler();
  const server = createServer({
    source: cache,
    clock: createFakeClock(),
    scheduler: createScheduler({ later: turns.later }),
    ...options,
  });
  return {
    server,
    cache,
    turns,
    open: (path) =>
      createMemoryStream((out) => {
        const answer = server.accept(path, "192.0.2.1:5", out);
        if (!("code" in answer)) return answer;
        out.close(answer);
        return deaf;
      }),
  };
}

const deaf: ByteStreamHandler = {
  onMessage: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};

function ask(
  stream: MemoryStream,
  delta: boolean,
  typeUrl: string,
  ...names: readonly string[]
): void {
  const node = { id: "n" };
  stream.send(
    delta
      ? toBinary(
          DeltaDiscoveryRequestSchema,
          create(DeltaDiscoveryRequestSchema, {
            node,
            typeUrl,
            resourceNamesSubscribe: [...names],
          }),
        )
      : toBinary(
          DiscoveryRequestSchema,
          create(DiscoveryRequestSchema, { node, typeUrl, resourceNames: [...names] }),
        ),
  );
}

function read(
  stream: MemoryStream,
  delta: boolean,
): { readonly typeUrl: string; readonly resources: number; readonly removed: readonly string[] } {
  const bytes = stream.take();
  if (bytes === undefined) throw new Error("a response was expected, and none has come");
  if (!delta) {
    const { typeUrl, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    return { typeUrl, resources: resources.length, removed: [] };
  }
  const { typeUrl, resources, removedResources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  return { typeUrl, resources: resources.length, removed: removedResources };
}

describe("calls", () => {
  it.each(services)(
    "of the service of %s answer for that type in each of its methods (sotw/per-type) (delta/per-type) [B-STREAM-2]",
    (type, service, sotw, delta) => {
      const typeUrl = `type.googleapis.com/${type}`;
      const { cache, open, turns } = serve();
      cache.put({ typeUrl, name: "a", value: payloadOf("a") });
      for (const method of [sotw, delta].filter((name) => name !== undefined)) {
        const stream = open(`/${service}/${method}`);
        ask(stream, method === delta, "", "a");
        turns.run();
        expect(stream.closed).toBeUndefined();
        expect(read(stream, method === delta)).toEqual({ typeUrl, resources: 1, removed: [] });
      }
    },
  );

  it.each([
    "/envoy.service.route.v3.VirtualHostDiscoveryService/StreamVirtualHosts",
    "/envoy.service.endpoint.v3.LocalityEndpointDiscoveryService/StreamLocalityEndpoints",
  ])(
    "of a SotW method that does not exist are UNIMPLEMENTED: %s (sotw/per-type) [B-STREAM-2]",
    (path) => {
      const { cache, open } = serve();
      cache.commit({});
      expect(open(path).closed?.code).toBe(StatusCode.UNIMPLEMENTED);
    },
  );

  it.each([
    "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources",
    "/envoy.api.v2.ClusterDiscoveryService/StreamClusters",
    `/${ADS}/Stream`,
    "/",
    "",
  ])("of another transport version, or of nothing, are UNIMPLEMENTED: %s [B-STREAM-1]", (path) => {
    const { cache, open } = serve();
    cache.commit({});
    expect(open(path).closed?.code).toBe(StatusCode.UNIMPLEMENTED);
  });

  it.each(everyVariant)("are of the variant that the method says (%s) [B-STREAM-1]", (variant) => {
    const { cache, open, turns, server } = serve();
    cache.put({ typeUrl: CLUSTER, name: "a", value: payloadOf("a") });
    const stream = open(paths[variant]);
    ask(stream, isDelta(variant), CLUSTER, "a", "missing");
    turns.run();
    expect(read(stream, isDelta(variant))).toEqual({
      typeUrl: CLUSTER,
      resources: 1,
      removed: isDelta(variant) ? ["missing"] : [],
    });
    expect(server.status()).toMatchObject([{ variant: isDelta(variant) ? "delta" : "sotw" }]);
  });

  it.each(everyVariant)(
    "are rejected with UNAVAILABLE until the first complete state is loaded; the first response is complete (%s) [S-STREAM-9]",
    (variant) => {
      const { cache, open, turns } = serve();
      expect(open(paths[variant]).closed?.code).toBe(StatusCode.UNAVAILABLE);
      cache.transaction(({ put }) => {
        for (const name of ["a", "b", "c"]) put({ typeUrl: CLUSTER, name, value: payloadOf(name) });
      });
      const stream = open(paths[variant]);
      ask(stream, isDelta(variant), CLUSTER);
      turns.run();
      expect(read(stream, isDelta(variant)).resources).toBe(3);
      expect(stream.unread).toBe(0);
    },
  );

  it.each(everyVariant)(
    "of 100 clients end with OK after what was pending when the server shuts down; no new ones come in (%s) [S-STREAM-13]",
    async (variant) => {
      const { cache, open, turns, server } = serve();
      cache.put({ typeUrl: CLUSTER, name: "a", value: payloadOf("a") });
      const streams = Array.from({ length: 100 }, () => open(paths[variant]));
      for (const stream of streams) ask(stream, isDelta(variant), CLUSTER, "a");
      const closed = server.close();
      expect(open(paths[variant]).closed?.code).toBe(StatusCode.UNAVAILABLE);
      expect(
        streams.map((stream) => stream.closed).filter((status) => status !== undefined),
      ).toEqual([]);
      turns.run();
      await closed;
      expect(streams.map((stream) => stream.unread)).toEqual(streams.map(() => 1));
      expect(streams.map((stream) => stream.closed?.code)).toEqual(
        streams.map(() => StatusCode.OK),
      );
      expect(cache.counters.topics).toBe(0);
    },
  );
});
