import { createDnsResolver, type ServerConfig } from "@xdstp/bootstrap";
import { createCache } from "@xdstp/cache";
import { createServer } from "@xdstp/server";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useFolder } from "../../bootstrap/test/use-folder.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { type Client, parseBootstrap } from "./index.ts";

const signer = createTestAuthority();
const bootstrap = parseBootstrap({
  xds_servers: [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "insecure" }] }],
  authorities: { a: {} },
  node: { id: "me" },
});
const name = "xdstp://b.example/envoy.config.cluster.v3.Cluster/blue";

/**
 * Serves a cluster as the management server of `b.example`, with a certificate for `dnsName`.
 * Returns its port.
 */
async function usePlane(dnsName: string): Promise<number> {
  const cache = createCache();
  cache.put({ typeUrl: clusterUrl, name, value: clusterOf(name, 7) });
  const server = createServer({ source: cache, tls: signer.issue({ dnsNames: [dnsName] }) });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
  });
  return (await server.listen({ host: "127.0.0.1", port: 0 })).port;
}

/** Creates a client for which DNS resolves `b.example` to this port of the machine. */
function useDnsClient(port: number): Client {
  const none = (): Promise<never> =>
    Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
  const file = useFolder({ "ca.pem": signer.cert });
  const find = createDnsResolver({
    credentials: { type: "tls", caCertificateFile: file("ca.pem"), refreshIntervalMs: 600_000 },
    queries: {
      resolve4: none,
      resolve6: none,
      resolveSrv: (asked) =>
        asked === "_xds._tcp.b.example"
          ? Promise.resolve([{ name: "localhost", port, priority: 0, weight: 0 }])
          : none(),
    },
  });
  return useClient(["127.0.0.1:1"], { bootstrap, resolveAuthority: find }).client;
}

describe("resolveAuthority of a client", () => {
  it("may be DNS: the server that it finds is asked over TLS, by a certificate for the authority", async () => {
    const client = useDnsClient(await usePlane("b.example"));
    expect(Number((await client.read(clusterType, name)).value.connectTimeout?.seconds)).toBe(7);
    expect(client.status("b.example")).toMatchObject([
      { name: expect.stringMatching(/^localhost:\d+$/) as string },
    ]);
    await expect(
      client.read(clusterType, "xdstp://c.example/envoy.config.cluster.v3.Cluster/blue"),
    ).rejects.toThrow(
      '"c.example"; known: "a"; the search for a server failed: DNS has no SRV _xds._tcp.c.example and no address of c.example',
    );
  });

  it("that is DNS believes nobody with a certificate for another name", async () => {
    const client = useDnsClient(await usePlane("localhost"));
    const watch = client.watch(clusterType, name);
    await expect
      .poll(() => client.status("b.example")[0]?.status?.lastEnd?.message)
      .toContain("its certificate is for DNS:localhost");
    watch.close();
  });

  it("may say servers as configuration does: they are asked as those of the bootstrap are", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name, value: clusterOf(name, 5) });
    const server: ServerConfig = {
      uri: origin.uri,
      credentials: { type: "insecure" },
      features: new Set(),
    };
    const { client } = useClient(["127.0.0.1:1"], {
      bootstrap,
      resolveAuthority: () => ({ servers: [server] }),
    });
    expect(Number((await client.read(clusterType, name)).value.connectTimeout?.seconds)).toBe(5);
    expect(origin.server.status().map(({ node }) => node?.id)).toEqual(["me"]);
  });
});
