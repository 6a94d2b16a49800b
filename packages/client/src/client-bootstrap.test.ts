import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin, type Origin } from "../test/use-origin.ts";
import { flag, turn, useDeltaScript } from "../test/use-script.ts";

const api = (uri: string, api_type: string): object => ({
  api_type,
  transport_api_version: "V3",
  grpc_services: [{ google_grpc: { target_uri: uri, stat_prefix: "x" } }],
});
const named = (authority: string): string =>
  `xdstp://${authority}/envoy.config.cluster.v3.Cluster/blue`;

function put({ cache }: Origin, name: string, seconds: number): void {
  cache.put({ typeUrl: clusterUrl, name, value: clusterOf(name, seconds) });
}

describe("a client with a bootstrap of Envoy", () => {
  it("asks for names of two authorities and for opaque names where it says, each in the variant of its source [C-AUTH-1, C-AUTH-6, C-AGG-2]", async () => {
    const [a, b, ads] = [await useOrigin(), await useOrigin(), await useOrigin()];
    put(a, named("a"), 1);
    put(b, named("b"), 2);
    put(ads, "blue", 3);
    const bootstrap = readEnvoyBootstrap({
      node: { id: "web-1", cluster: "web" },
      dynamic_resources: { ads_config: api(ads.uri, "DELTA_GRPC") },
      config_sources: [
        [a, "a", "AGGREGATED_DELTA_GRPC"],
        [b, "b", "AGGREGATED_GRPC"],
      ].map(([origin, authority, kind]) => ({
        authorities: [{ name: authority }],
        api_config_source: api((origin as Origin).uri, kind as string),
      })),
    });
    const { client } = useClient([ads.uri], { bootstrap });
    const read = async (name: string): Promise<number> =>
      Number((await client.read(clusterType, name)).value.connectTimeout?.seconds);
    expect([await read(named("a")), await read(named("b")), await read("blue")]).toEqual([1, 2, 3]);
    expect(
      [a, b, ads].map(({ server }) =>
        server.status().map(({ node: said, variant }) => [said?.id, variant]),
      ),
    ).toEqual([[["web-1", "delta"]], [["web-1", "sotw"]], [["web-1", "delta"]]]);
    await expect(client.read(clusterType, named("c"))).rejects.toThrow(
      'no server is configured for the authority "c"; known: "a", "b"',
    );
  });

  it("adds node_context_params to globs, unless the program says others [C-CTX-3]", async () => {
    const bootstrap = readEnvoyBootstrap({
      node: { id: "web-1", cluster: "web" },
      node_context_params: ["cluster"],
      config_sources: [{ api_config_source: api("s0", "AGGREGATED_DELTA_GRPC") }],
    });
    const asked = async (options: object): Promise<readonly string[]> => {
      const { client, server } = useDeltaScript({ bootstrap, ...options });
      client.watchAll(flag, "xdstp://acme/acme.v1.Flag/*");
      await turn();
      return server.next().resourceNamesSubscribe;
    };
    expect([await asked({}), await asked({ nodeContextParams: [] })]).toEqual([
      ["xdstp://acme/acme.v1.Flag/*?xds.node.cluster=web"],
      ["xdstp://acme/acme.v1.Flag/*"],
    ]);
  });
});
