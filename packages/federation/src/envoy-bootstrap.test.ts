import { createChannels, encodeNode } from "@xdstp/bootstrap";
import { readEnvoyBootstrap } from "@xdstp/bootstrap/envoy";
import { createCache } from "@xdstp/cache";
import { envoyTypes, typeUrlOf } from "@xdstp/resource-types";
import { createServer } from "@xdstp/server";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { api, cluster, endpoint, envoy, tls } from "../../bootstrap/test/envoy-json.ts";
import { useFolder } from "../../bootstrap/test/use-folder.ts";
import { createFederation, createSources } from "./index.ts";

const typeUrl = typeUrlOf("envoy.config.cluster.v3.Cluster");
const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/blue";
const authority = createTestAuthority();

/** A control plane with TLS and the name `xds.internal`, which requires client certificates. */
async function useControlPlane() {
  const source = createCache({ types: envoyTypes });
  source.put({
    typeUrl,
    name,
    value: Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)]),
  });
  const server = createServer({
    source,
    tls: { ...authority.issue({ dnsNames: ["xds.internal"] }), clientCa: authority.cert },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, port: (await server.listen({ host: "127.0.0.1", port: 0 })).port };
}

/**
 * Returns a bootstrap in which names of `acme` are requested over `apiType` from a static cluster
 * with this SNI.
 */
function bootstrapFor(port: number, apiType: string, sni: string): object {
  const own = authority.issue({ uris: ["spiffe://td/web"] });
  const at = useFolder({ ca: authority.cert, cert: own.cert, key: own.key });
  const common = {
    tls_certificates: [
      { certificate_chain: { filename: at("cert") }, private_key: { filename: at("key") } },
    ],
    validation_context: { trusted_ca: { filename: at("ca") } },
  };
  return {
    node: { id: "web-1", cluster: "web" },
    config_sources: [
      {
        authorities: [{ name: "acme" }],
        api_config_source: api(
          [{ ...envoy("xds"), initial_metadata: [{ key: "x-team", value: "web" }] }],
          { api_type: apiType },
        ),
      },
    ],
    static_resources: {
      clusters: [
        cluster("xds", {
          load_assignment: {
            cluster_name: "xds",
            endpoints: [{ lb_endpoints: [endpoint("127.0.0.1", port)] }],
          },
          ...tls(common, { sni }),
        }),
      ],
    },
  };
}

/** Feeds a cache as a bootstrap says, and returns the resource or the error of the name in it. */
async function outcomeOf(bootstrap: object): Promise<string | undefined> {
  const { node, sources } = readEnvoyBootstrap(bootstrap);
  const cache = createCache({ types: envoyTypes });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createFederation({
      sources: createSources(sources, { node: encodeNode(node), channels: createChannels() }),
    }),
  );
  const topic = cache.topic(typeUrl, { name });
  return new Promise((resolve) => {
    topic.watch({
      wake: () => {
        if (topic.get(name) !== undefined) resolve("it came");
        else if (topic.stale !== undefined) resolve(topic.stale.message);
      },
    });
  });
}

describe("a program with a bootstrap of Envoy", () => {
  it.each(["AGGREGATED_DELTA_GRPC", "AGGREGATED_GRPC", "DELTA_GRPC", "GRPC"])(
    "takes configuration over %s with mutual TLS, from a static cluster by its SNI [C-AGG-2, C-AGG-3, B-AUTH-9, B-STREAM-2]",
    async (apiType) => {
      const { server, port } = await useControlPlane();
      expect(await outcomeOf(bootstrapFor(port, apiType, "xds.internal"))).toBe("it came");
      expect(server.status().map(({ node, identity }) => [node?.id, identity?.uris])).toEqual([
        ["web-1", ["spiffe://td/web"]],
      ]);
    },
  );

  it("believes no server that has a certificate for another name", async () => {
    const { port } = await useControlPlane();
    expect(
      await outcomeOf(bootstrapFor(port, "AGGREGATED_DELTA_GRPC", "other.internal")),
    ).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  });
});
