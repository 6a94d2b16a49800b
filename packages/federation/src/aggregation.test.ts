import { parseBootstrap, type ServerConfig } from "@xdstp/bootstrap";
import { readConfigSource, readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { createCache } from "@xdstp/cache";
import { typeUrlOf } from "@xdstp/resource-types";
import { describe, expect, it, onTestFinished } from "vitest";

import { api, from, google, type Json } from "../../bootstrap/test/envoy-json.ts";
import { serverOptions } from "../test/server-options.ts";
import { turn } from "../test/turn.ts";
import { createFederation, createSources, type FederationSource } from "./index.ts";

const ads = (uri: string, variant: "Delta" | "Stream"): string =>
  `${uri} /envoy.service.discovery.v3.AggregatedDiscoveryService/${variant}AggregatedResources`;

type Options = ReturnType<typeof serverOptions>;

/**
 * Returns the streams that are opened when these names, each of a type of its own, are subscribed.
 */
async function callsFor(
  sourcesFor: (options: Options) => readonly FederationSource[],
  names: readonly string[],
  options = serverOptions(),
): Promise<readonly string[]> {
  const cache = createCache();
  onTestFinished(() => cache.close());
  cache.addFeed(createFederation({ sources: sourcesFor(options), clock: options.clock }));
  for (const name of names)
    cache
      .topic(
        typeUrlOf(/^xdstp:\/\/[^/]*\/([^/]+)/.exec(name)?.[1] ?? "envoy.config.cluster.v3.Cluster"),
        { name },
      )
      .watch({ wake: () => undefined });
  await turn();
  await turn();
  return options.channels.calls;
}

const names = (authority: string): readonly string[] =>
  ["cluster.v3.Cluster", "listener.v3.Listener", "route.v3.RouteConfiguration"].map(
    (type) => `xdstp://${authority}/envoy.config.${type}/x`,
  );

/** Returns the servers of a ConfigSource of this kind, at an address of the same name. */
function serversOf(kind: string): readonly ServerConfig[] {
  const read = readConfigSource({ api_config_source: api([google(kind)], { api_type: kind }) });
  return read.kind === "servers" ? read.servers : [];
}

describe("a federation of what configuration says", () => {
  const server = (uri: string): Json => ({
    server_uri: uri,
    channel_creds: [{ type: "insecure" }],
  });

  it("compares authorities exactly, as decoded texts; the empty one is one too [C-AUTH-2]", async () => {
    const own = ["", "a", "A", "a.b", "b.a", "a:1", "ä"];
    const bootstrap = parseBootstrap({
      xds_servers: [server("top")],
      authorities: Object.fromEntries(
        own.map((name) => [name, { xds_servers: [server(`of ${name}`)] }]),
      ),
    });
    const asked = ["", "a", "A", "a.b", "b.a", "a:1", "%C3%A4"].flatMap((authority) =>
      names(authority).slice(0, 1),
    );
    expect(await callsFor((options) => createSources(bootstrap, options), asked)).toEqual(
      own.map((name) => ads(`of ${name}`, "Delta")),
    );
  });

  it.each(["", "a"])(
    "asks the servers of a bootstrap without authorities for names of %j [C-AUTH-2]",
    async (authority) => {
      expect(
        await callsFor(
          (options) => createSources(parseBootstrap({ xds_servers: [server("top")] }), options),
          names(authority),
        ),
      ).toEqual([ads("top", "Delta")]);
    },
  );

  it.each(["", "b", "A", "a:1", "x.a"])(
    "asks nobody for names of %j where authorities are listed, and it is not [C-AUTH-2, C-AUTH-5]",
    async (authority) => {
      const bootstrap = parseBootstrap({ xds_servers: [server("top")], authorities: { a: {} } });
      expect(
        await callsFor((options) => createSources(bootstrap, options), names(authority)),
      ).toEqual([]);
    },
  );

  it("asks one server for two authorities, three types and opaque names over one stream [C-AGG-1, C-GRPC-3]", async () => {
    const bootstrap = parseBootstrap({
      xds_servers: [server("s")],
      authorities: { a: {}, b: { xds_servers: [server("s")] } },
    });
    expect(
      await callsFor(
        (options) => createSources(bootstrap, options),
        [...names("a"), ...names("b"), "opaque"],
      ),
    ).toEqual([ads("s", "Delta")]);
  });

  it("asks the same server over one stream when two ConfigSources and ADS name it [C-AGG-1]", async () => {
    const bootstrap = {
      dynamic_resources: { ads_config: api([google("s:1")], { api_type: "DELTA_GRPC" }) },
      config_sources: [from("s:1", ["a"]), from("s:1", ["b"])],
      default_config_source: { ads: {} },
    };
    expect(
      await callsFor(
        (options) => createSources(readEnvoyBootstrap(bootstrap).sources, options),
        [...names("a"), ...names("b"), ...names("c"), "opaque"],
      ),
    ).toEqual([ads("s:1", "Delta")]);
  });

  it("asks for opaque names of ADS alone, also when that cannot be reached and there is a default [C-AUTH-6]", async () => {
    const bootstrap = {
      dynamic_resources: { ads_config: api([google("ads:1")], { api_type: "DELTA_GRPC" }) },
      default_config_source: from("rest:1"),
    };
    const options = serverOptions();
    const calls = await callsFor(
      (given) => createSources(readEnvoyBootstrap(bootstrap).sources, given),
      ["opaque"],
      options,
    );
    options.channels.delta(ads("ads:1", "Delta")).close();
    await turn();
    expect(calls).toEqual([ads("ads:1", "Delta")]);
  });

  it("uses streams of all kinds side by side, as a mixed bootstrap has them [C-AGG-2]", async () => {
    const bootstrap = {
      dynamic_resources: { ads_config: api([google("ads:1")], { api_type: "GRPC" }) },
      config_sources: [from("types:1", ["a"], { api_type: "DELTA_GRPC" }), from("all:1", ["b"])],
      default_config_source: from("rest:1", [], { api_type: "GRPC" }),
    };
    expect(
      new Set(
        await callsFor(
          (options) => createSources(readEnvoyBootstrap(bootstrap).sources, options),
          [...names("a"), ...names("b"), ...names("c").slice(0, 1), "opaque"],
        ),
      ),
    ).toEqual(
      new Set([
        "types:1 /envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters",
        "types:1 /envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners",
        "types:1 /envoy.service.route.v3.RouteDiscoveryService/DeltaRoutes",
        ads("all:1", "Delta"),
        "rest:1 /envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
        ads("ads:1", "Stream"),
      ]),
    );
  });

  it("opens the streams that each kind of ConfigSource asks for [C-AGG-2]", async () => {
    const kinds = ["AGGREGATED_DELTA_GRPC", "AGGREGATED_GRPC", "GRPC", "DELTA_GRPC"];
    const calls = await callsFor(
      (options) =>
        createSources(
          kinds.map((kind) => ({
            servers: serversOf(kind),
            authorities: [kind],
          })),
          options,
        ),
      kinds.flatMap((kind) => names(kind).slice(0, 2)),
    );
    expect(calls).toEqual([
      ads("AGGREGATED_DELTA_GRPC", "Delta"),
      ads("AGGREGATED_GRPC", "Stream"),
      "GRPC /envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
      "GRPC /envoy.service.listener.v3.ListenerDiscoveryService/StreamListeners",
      "DELTA_GRPC /envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters",
      "DELTA_GRPC /envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners",
    ]);
  });
});
