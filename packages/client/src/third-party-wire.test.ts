import type { Transport } from "@xdstp/bootstrap";
import { systemClock } from "@xdstp/core";
import { createNetwork, createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { createChannels } from "./index.ts";

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

describe("A wire of a third party", () => {
  it("carries the calls of the servers with its scheme or its channel_creds, next to gRPC for the others [C-GRPC-1]", async () => {
    const [origin, other] = [await useOrigin(), await useOrigin()];
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    other.cache.put({ typeUrl: clusterUrl, name: "red", value: clusterOf("red") });
    const network = createNetwork({ clock: systemClock, random: createSeededRandom(1) });
    network.listen("acme://one", (out) => {
      const handler = origin.server.accept(path, "acme", out);
      if ("code" in handler) throw new Error(handler.message);
      return handler;
    });
    const calls: string[] = [];
    const acme: Transport = ({ uri, credentials }) => {
      calls.push(`connect ${uri} ${JSON.stringify(credentials)}`);
      return {
        open: (_, handler) => network.connect("acme://one", handler),
        close: () => calls.push(`close ${uri}`),
      };
    };
    const channels = createChannels({ transports: { acme } });
    const first = useClient(["ACME://one"], { channels }).client;
    const second = useClient([other.uri], { channels }).client;
    const third = useClient(["unused"], {
      channels,
      bootstrap: {
        transports: ["acme"],
        json: {
          xds_servers: [{ server_uri: "one", channel_creds: [{ type: "acme", config: { a: 1 } }] }],
        },
      },
    }).client;
    expect(await first.read(clusterType, "blue")).toMatchObject({ name: "blue" });
    expect(await second.read(clusterType, "red")).toMatchObject({ name: "red" });
    expect(await third.read(clusterType, "blue")).toMatchObject({ name: "blue" });
    expect(origin.server.stats().wire.connectionsOpened).toBe(0);
    await first.close();
    expect(calls).toEqual([
      'connect ACME://one {"type":"insecure"}',
      'connect one {"type":"transport","name":"acme","config":{"a":1}}',
      "close ACME://one",
    ]);
  });

  it("fails to close: this affects no client", async () => {
    const closing: string[] = [];
    const { promise: opened, resolve: open }: PromiseWithResolvers<void> = Promise.withResolvers();
    const acme: Transport = ({ uri }) => ({
      open() {
        open();
        return { opening: true, send: () => false, close: () => undefined };
      },
      close() {
        closing.push(uri);
        throw new Error("not today");
      },
    });
    const channels = createChannels({ transports: { acme } });
    const { client } = useClient(["acme://one"], { channels });
    client.watch(clusterType, "blue");
    await opened;
    await client.close();
    expect(closing).toEqual(["acme://one"]);
  });

  it("connects once to equal servers, and again to a file with another watched directory [C-GRPC-12]", () => {
    const connected: (string | undefined)[] = [];
    const channels = createChannels({
      transports: {
        file({ file }) {
          connected.push(file?.watchedDirectory);
          return {
            open: () => ({ send: () => true, close: () => undefined }),
            close: () => undefined,
          };
        },
      },
    });
    const path = "/etc/xds/cds.yaml";
    for (const more of [{}, { watchedDirectory: "/etc/xds" }, {}])
      channels.acquire({
        uri: `file://${path}`,
        credentials: { type: "insecure" },
        features: new Set(),
        file: { path, ...more },
      });
    expect(connected).toEqual([undefined, "/etc/xds"]);
  });

  it("is missing: the servers that need it are unreachable, with the reason", async () => {
    const { client } = useClient(["unused"], {
      channels: createChannels(),
      bootstrap: {
        transports: ["acme"],
        json: { xds_servers: [{ server_uri: "one", channel_creds: [{ type: "acme" }] }] },
      },
    });
    await expect(client.read(clusterType, "blue", { timeoutMs: 1_000 })).rejects.toThrow(
      '"one" needs the transport "acme"; give it to createChannels({ transports })',
    );
  });
});
