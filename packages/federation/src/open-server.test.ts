import type { ServerConfig } from "@xdstp/bootstrap";
import { typeUrlOf } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";

import { serverOptions } from "../test/server-options.ts";
import { turn } from "../test/turn.ts";
import { useFeed } from "../test/use-feed.ts";
import { openServer } from "./open-server.ts";

const [cluster, listener, virtualHost, secret] = [
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.listener.v3.Listener",
  "envoy.config.route.v3.VirtualHost",
  "envoy.extensions.transport_sockets.tls.v3.Secret",
].map(typeUrlOf) as [string, string, string, string];
const flag = "type.googleapis.com/acme.v1.Flag";
const server: ServerConfig = { uri: "s", credentials: { type: "insecure" }, features: new Set() };
const clusters = "s /envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters";
const listeners = "s /envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners";

/** Opens a server, and subscribes to names of these types. */
async function useServer(
  config: Partial<ServerConfig>,
  asked: readonly string[],
  more: Parameters<typeof serverOptions>[0] = {},
) {
  const options = serverOptions(more);
  const opened = openServer({ ...server, ...config }, options);
  const told = useFeed(opened.feed);
  for (const typeUrl of asked) opened.feed.want(typeUrl, [{ name: "x" }], []);
  await turn();
  return {
    ...told,
    ...options,
    feed: opened.feed,
    close: () => {
      opened.close();
    },
  };
}

describe("openServer()", () => {
  it("polls one service per type in SotW, whatever the configuration says, and says which types have no path [S-REST-1]", async () => {
    const services = [{ typeUrl: flag, service: "acme.FlagService", sotw: "StreamFlags" }];
    const { channels, outages } = await useServer(
      { rest: {}, variant: "delta", aggregated: true },
      [cluster, flag],
      { services },
    );
    expect(channels.calls).toEqual([
      "s /envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
    ]);
    expect(outages).toEqual([
      `Flag: [UNIMPLEMENTED] "${flag}" has no path in REST; give its service a restPath, or use gRPC`,
    ]);
  });

  it.each([
    ["delta", "s /envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"],
    ["sotw", "s /envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"],
  ] as const)("asks for all types over one stream in %s [C-AGG-1]", async (variant, call) => {
    const { channels } = await useServer({ variant }, [cluster, listener, flag]);
    expect(channels.calls).toEqual([call]);
  });

  it.each([
    [
      "delta",
      [
        "s /envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters",
        "s /envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets",
        "s /envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts",
      ],
    ],
    [
      "sotw",
      [
        "s /envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
        "s /envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets",
      ],
    ],
  ] as const)(
    "asks over one stream per type, on its service, in %s, and over one channel [C-AGG-2, B-STREAM-2]",
    async (variant, calls) => {
      const { channels, close } = await useServer({ variant, aggregated: false }, [
        cluster,
        secret,
        virtualHost,
      ]);
      expect(channels.calls).toEqual(calls);
      expect([...channels.inUse]).toEqual([["s", 1]]);
      close();
      expect([...channels.inUse]).toEqual([["s", 0]]);
    },
  );

  it("says of a type without a service or a method why it cannot be asked for, and asks for the others [B-STREAM-2]", async () => {
    const { outages, channels } = await useServer({ variant: "sotw", aggregated: false }, [
      flag,
      virtualHost,
      cluster,
    ]);
    expect(outages).toEqual([
      'Flag: [UNIMPLEMENTED] "type.googleapis.com/acme.v1.Flag" has no discovery service of its own; use an aggregated source',
      'VirtualHost: [UNIMPLEMENTED] "type.googleapis.com/envoy.config.route.v3.VirtualHost" has no method in SotW; use delta or an aggregated source',
    ]);
    expect(channels.calls).toHaveLength(1);
  });

  it("asks for types of one's own on their services", async () => {
    const { channels } = await useServer({ aggregated: false }, [flag], {
      services: [{ typeUrl: flag, service: "acme.v1.FlagDiscoveryService", delta: "DeltaFlags" }],
    });
    expect(channels.calls).toEqual(["s /acme.v1.FlagDiscoveryService/DeltaFlags"]);
  });

  it("sends the metadata of a server with each stream, and keeps to its rate", async () => {
    const { channels, feed } = await useServer(
      { metadata: { "x-token": "t" }, rate: { burst: 1, perSecond: 1 } },
      [cluster],
    );
    expect(channels.calls).toEqual([
      's /envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources {"x-token":"t"}',
    ]);
    const origin = channels.delta(
      "s /envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
    );
    feed.want(cluster, [{ name: "y" }], []);
    await turn();
    expect(origin.rest()).toHaveLength(1);
  });
});

describe("a server with a stream per type", () => {
  const response = (typeUrl: string) => ({
    typeUrl,
    nonce: "1",
    resources: [{ name: "x", version: "1", resource: { typeUrl, value: new Uint8Array() } }],
  });

  it("cannot be reached when the streams of all types have failed, and can when one comes back [C-AGG-2, C-GRPC-4]", async () => {
    const { channels, outages, clock, put } = await useServer({ aggregated: false }, [
      cluster,
      listener,
    ]);
    channels.delta(clusters).close();
    expect(outages).toEqual([expect.stringMatching(/^Cluster: \[UNAVAILABLE\]/)]);
    channels.delta(listeners).close();
    expect(outages.slice(1)).toEqual([expect.stringMatching(/^all: \[UNAVAILABLE\]/)]);
    clock.advance(10_000);
    await turn();
    channels.delta(listeners).send(response(listener));
    expect(outages.slice(2)).toEqual([
      "all: well",
      expect.stringMatching(/^Cluster: \[UNAVAILABLE\]/),
      "Listener: well",
    ]);
    channels.delta(clusters).send(response(cluster));
    expect(outages.slice(5)).toEqual(["Cluster: well"]);
    expect(put.map(({ typeUrl }) => typeUrl)).toEqual([listener, cluster]);
  });

  it("does not count a type of which all names are unsubscribed", async () => {
    const { channels, outages, feed } = await useServer({ aggregated: false }, [cluster, listener]);
    feed.want(listener, [], [{ name: "x" }]);
    channels.delta(clusters).close();
    expect(outages).toEqual([expect.stringMatching(/^all: \[UNAVAILABLE\]/)]);
  });

  it("is not out of reach because a stream ends of which all names are unsubscribed", async () => {
    const { channels, outages, feed } = await useServer({ aggregated: false }, [cluster]);
    feed.want(cluster, [], [{ name: "x" }]);
    channels.delta(clusters).close();
    expect(outages).toEqual([expect.stringMatching(/^Cluster: \[UNAVAILABLE\]/)]);
  });

  it("can be reached again when a type gives something that had not failed", async () => {
    const { channels, outages, feed } = await useServer({ aggregated: false }, [cluster]);
    channels.delta(clusters).close();
    feed.want(listener, [{ name: "x" }], []);
    await turn();
    channels.delta(listeners).send(response(listener));
    expect(outages.slice(1)).toEqual([
      "all: well",
      expect.stringMatching(/^Cluster: \[UNAVAILABLE\]/),
    ]);
  });

  it("shows its types together, and tells each stream of another node [C-NODE-4]", async () => {
    let node = Buffer.from([10, 1, 97]);
    const { channels, feed } = await useServer({ aggregated: false }, [cluster, listener], {
      node: () => node,
    });
    channels.delta(clusters).send({ ...response(cluster), controlPlane: { identifier: "cp" } });
    expect(feed.status()).toMatchObject({
      variant: "delta",
      connected: true,
      responded: true,
      controlPlane: "cp",
      counts: { streams: 2, responses: 1, validResources: 1 },
      types: [{ typeUrl: cluster }, { typeUrl: listener }],
    });
    node = Buffer.from([10, 1, 98]);
    for (const call of [clusters, listeners]) channels.delta(call).rest();
    feed.nodeChanged();
    for (const typeUrl of [cluster, listener]) feed.want(typeUrl, [{ name: "y" }], []);
    await turn();
    expect(
      [clusters, listeners].map((call) => channels.delta(call).rest().at(-1)?.node?.id),
    ).toEqual(["b", "b"]);
  });

  it("asks for what was wanted before it ran", async () => {
    const options = serverOptions();
    const { feed } = openServer({ ...server, aggregated: false }, options);
    feed.want(cluster, [{ name: "x" }], []);
    feed.want(flag, [{ name: "x" }], []);
    expect(options.channels.calls).toEqual([]);
    const { outages } = useFeed(feed);
    await turn();
    expect([options.channels.calls, outages]).toEqual([
      [clusters],
      [expect.stringContaining("no discovery service")],
    ]);
  });
});
