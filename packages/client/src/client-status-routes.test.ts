import { createClient as createRpcClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createCache } from "@xdstp/cache";
import { ClientStatusDiscoveryService } from "@xdstp/protos/status";
import { createServer } from "@xdstp/server";
import { describe, expect, it, onTestFinished } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { clientStatusRoutes, type Client } from "./index.ts";

async function useStatus(clients: readonly Client[], mayRead?: () => boolean) {
  const server = createServer({
    source: createCache(),
    clientStatus: false,
    routes: clientStatusRoutes(() => clients, mayRead),
  });
  onTestFinished(() => server.close());
  const { host, port } = await server.listen({ port: 0 });
  return createRpcClient(
    ClientStatusDiscoveryService,
    createGrpcTransport({ baseUrl: `http://${host}:${port}` }),
  );
}

describe("clientStatusRoutes()", () => {
  it("tells of the clients of a process side by side, with and without contents [B-CSDS-1, B-CSDS-2, C-CSDS-6]", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    const [one, two] = [
      useClient([origin.uri], { scope: "one" }).client,
      useClient([origin.uri], { scope: "two" }).client,
    ];
    const watch = one.watch(clusterType, "blue")[Symbol.asyncIterator]();
    await watch.next();
    const status = await useStatus([one, two]);
    const { config } = await status.fetchClientStatus({});
    expect(config.map(({ clientScope, node }) => [clientScope, node?.id])).toEqual([
      ["one", "me"],
      ["two", "me"],
    ]);
    expect(
      config[0]?.genericXdsConfigs.map(({ name, clientStatus, xdsConfig }) => [
        name,
        clientStatus,
        Buffer.from(xdsConfig?.value ?? []).equals(clusterOf("blue")),
      ]),
    ).toEqual([["blue", 3, true]]);
    const bare = await status.fetchClientStatus({ excludeResourceContents: true });
    expect(bare.config[0]?.genericXdsConfigs[0]?.xdsConfig).toBeUndefined();
  });

  it("blanks the secrets in it [B-CSDS-7]", async () => {
    const origin = await useOrigin();
    const typeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
    // name, and generic_secret.secret.inline_string
    const value = Buffer.from([
      10,
      3,
      ...Buffer.from("key"),
      42,
      12,
      10,
      10,
      26,
      8,
      ...Buffer.from("hush-hey"),
    ]);
    origin.cache.put({ typeUrl, name: "key", value });
    const { client } = useClient([origin.uri]);
    const shown = await client
      .watch({ typeUrl, decode: (payload) => payload }, "key")
      [Symbol.asyncIterator]()
      .next();
    expect(Buffer.from(shown.value?.value ?? []).includes("hush-hey")).toBe(true);
    const {
      config: [config],
    } = await (await useStatus([client])).fetchClientStatus({});
    expect(
      config?.genericXdsConfigs.map(({ name, xdsConfig }) => [
        name,
        Buffer.from(xdsConfig?.value ?? []).includes("key"),
        Buffer.from(xdsConfig?.value ?? []).includes("hush-hey"),
      ]),
    ).toEqual([["key", true, false]]);
  });

  it("rejects node matchers, and whoever may not read it [B-CSDS-5, B-CSDS-7]", async () => {
    const { client } = useClient(["127.0.0.1:1"]);
    const status = await useStatus([client]);
    await expect(status.fetchClientStatus({ nodeMatchers: [{}] })).rejects.toThrow(
      "[invalid_argument] node_matchers are for control planes",
    );
    await expect((await useStatus([client], () => false)).fetchClientStatus({})).rejects.toThrow(
      "[permission_denied]",
    );
  });

  it.each([
    ["DOES_NOT_EXIST", "none", 2],
    ["REQUESTED", "never", 1],
  ] as const)("shows %s [C-CSDS-3]", async (_, name, expected) => {
    const origin = await useOrigin();
    const uris = name === "never" ? ["127.0.0.1:1"] : [origin.uri];
    const { client } = useClient(uris);
    const watch = client.watch(clusterType, name)[Symbol.asyncIterator]();
    if (name === "none") expect((await watch.next()).value?.error?.code).toBe("NOT_FOUND");
    else
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    const {
      genericXdsConfigs: [row],
    } = await client.dump();
    expect([row?.name, row?.clientStatus]).toEqual([name, expected]);
  });
});
