import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { createChannels } from "./index.ts";

describe("createChannels()", () => {
  it("gives ten clients of one server one connection, each with a stream and a scope of its own [C-GRPC-12]", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    const channels = createChannels();
    const clients = Array.from(
      { length: 10 },
      (_, index) => useClient([origin.uri], { channels, scope: String(index) }).client,
    );
    await Promise.all(
      clients.map(async (client) =>
        client.watch(clusterType, "blue")[Symbol.asyncIterator]().next(),
      ),
    );
    expect([
      origin.server.stats().wire.connectionsOpened,
      origin.server.stats().wire.streams,
    ]).toEqual([1, 10]);
    const [first, ...others] = clients;
    await first?.close();
    expect(await others[0]?.read(clusterType, "blue")).toMatchObject({ name: "blue" });
  });

  it("gives other servers and other credentials channels of their own, and says what is broken in them", async () => {
    const [one, two] = [await useOrigin(), await useOrigin()];
    const channels = createChannels();
    const clients = [one, two].map(({ uri }) => useClient([uri], { channels }).client);
    for (const client of clients)
      await expect(client.read(clusterType, "none")).rejects.toThrow("[NOT_FOUND]");
    expect([one, two].map(({ server }) => server.stats().wire.connectionsOpened)).toEqual([1, 1]);
    expect(() =>
      channels.acquire({
        uri: "localhost:1",
        credentials: { type: "tls", caCertificateFile: "/no/such/file", refreshIntervalMs: 1_000 },
        features: new Set(),
      }),
    ).toThrow("/no/such/file");
  });
});
