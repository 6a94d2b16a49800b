import { systemClock } from "@xdstp/core";
import { createNetwork, createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useClient, useOrigin } from "../test/use-origin.ts";
import { type Channels, createChannels } from "./index.ts";

const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

describe("A wire of a third party", () => {
  it("carries the calls of the servers with its scheme, next to gRPC for the others", async () => {
    const [origin, other] = [await useOrigin(), await useOrigin()];
    origin.cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue") });
    other.cache.put({ typeUrl: clusterUrl, name: "red", value: clusterOf("red") });
    const network = createNetwork({ clock: systemClock, random: createSeededRandom(1) });
    network.listen("acme://one", (out) => {
      const handler = origin.server.accept(path, "acme", out);
      if ("code" in handler) throw new Error(handler.message);
      return handler;
    });
    const grpc = createChannels();
    const released: string[] = [];
    const channels: Channels = {
      acquire: (server) =>
        server.uri.startsWith("acme://")
          ? {
              open: (_, handler) => network.connect(server.uri, handler),
              release: () => released.push(server.uri),
            }
          : grpc.acquire(server),
    };
    const first = useClient(["acme://one"], { channels }).client;
    const second = useClient([other.uri], { channels }).client;
    expect(await first.read(clusterType, "blue")).toMatchObject({ name: "blue" });
    expect(await second.read(clusterType, "red")).toMatchObject({ name: "red" });
    expect(origin.server.stats().wire.connectionsOpened).toBe(0);
    await first.close();
    expect(released).toEqual(["acme://one"]);
  });
});
