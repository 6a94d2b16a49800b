import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { createClientContext } from "@xdstp/protocol/client";
import { createServerContext } from "@xdstp/protocol/server";
import { NodeSchema } from "@xdstp/protos/discovery";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import {
  checkFeed,
  createFakeClock,
  createNetwork,
  createSeededRandom,
  type TestedFeed,
} from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { describe, expect, it } from "vitest";

/** A client, and a server over a cache, in a network in memory. */
function makeClient(variant: "delta" | "sotw"): TestedFeed {
  const clock = createFakeClock();
  const network = createNetwork({ clock, random: createSeededRandom(1), delayMs: [1, 5] });
  const origin = createCache({ clock, types: envoyTypes });
  origin.transaction(() => undefined);
  const server = createServerContext({ source: origin, clock });
  const end = variant === "delta" ? createDeltaServer(server) : createSotwServer(server);
  const listen = () => network.listen("server", (out) => end.open({ peer: "memory" }, out));
  let listener = listen();
  const context = createClientContext({
    connect: (handler) => network.connect("server", handler),
    node: toBinary(NodeSchema, create(NodeSchema, { id: "me" })),
    clock,
    random: () => 0.5,
    descriptor: (typeUrl) => origin.descriptor(typeUrl),
  });
  return {
    feed: variant === "delta" ? createDeltaClient(context) : createSotwClient(context),
    typeUrl: clusters.typeUrl,
    nameOf: (id) => id,
    glob: "*",
    stateOf: ({ payload }) =>
      Number(fromBinary(ClusterSchema, payload.value).connectTimeout?.seconds ?? -1n),
    put: (id, state) => {
      origin.put(clusters, { name: id, connectTimeout: { seconds: BigInt(state) } });
    },
    remove: (id) => {
      origin.remove(clusters.typeUrl, id);
    },
    cut: () => {
      listener.close();
      for (const connection of network.connections) connection.cut("both");
    },
    restore: () => {
      listener = listen();
    },
    step: async () => {
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: () => origin.close(),
  };
}

describe.each(["delta", "sotw"] as const)("A client of the variant %s, as a feed:", (variant) => {
  it.each(checkFeed(() => makeClient(variant)))("$title", async ({ run }) => {
    expect(await run()).toBeUndefined();
  });
});
