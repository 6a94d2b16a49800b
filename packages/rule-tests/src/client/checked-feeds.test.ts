import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Cache, createCache } from "@xdstp/cache";
import { createClientContext } from "@xdstp/protocol/client";
import { createServerContext } from "@xdstp/protocol/server";
import { NodeSchema } from "@xdstp/protos/discovery";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters, endpoints } from "@xdstp/resource-types/envoy";
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

/** A type of resources. */
interface Kind {
  readonly typeUrl: string;
  /** False: the responses of the variant cannot remove a resource, since they have only what has changed. */
  readonly isRemovable: boolean;
  readonly put: (cache: Cache, id: string, state: number) => void;
  readonly stateOf: TestedFeed["stateOf"];
}

const cds: Kind = {
  typeUrl: clusters.typeUrl,
  isRemovable: true,
  put: (cache, id, state) => {
    cache.put(clusters, { name: id, connectTimeout: { seconds: BigInt(state) } });
  },
  stateOf: ({ payload }) =>
    Number(fromBinary(ClusterSchema, payload.value).connectTimeout?.seconds ?? -1n),
};

const eds: Kind = {
  typeUrl: endpoints.typeUrl,
  isRemovable: true,
  put: (cache, id, state) => {
    cache.put(endpoints, { clusterName: id, policy: { overprovisioningFactor: state } });
  },
  stateOf: ({ payload }) =>
    fromBinary(ClusterLoadAssignmentSchema, payload.value).policy?.overprovisioningFactor ?? -1,
};

/** A client, and a server over a cache, in a network in memory. */
function makeClient(variant: "delta" | "sotw", kind: Kind): TestedFeed {
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
    typeUrl: kind.typeUrl,
    nameOf: (id) => id,
    glob: "*",
    stateOf: kind.stateOf,
    put: (id, state) => {
      kind.put(origin, id, state);
    },
    ...(kind.isRemovable && {
      remove: (id: string) => {
        origin.remove(kind.typeUrl, id);
      },
    }),
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

const skipped: Readonly<Record<string, unknown>> = {
  "a removed resource is removed, and the others stay": {
    kind: "skipped",
    reason: "the test of this feed cannot remove a resource",
  },
};

describe.each([
  ["delta", "clusters", cds],
  ["delta", "endpoints", eds],
  ["sotw", "clusters", cds],
  ["sotw", "endpoints", { ...eds, isRemovable: false }],
] as const)("A client of the variant %s, as a feed of %s:", (variant, _name, kind) => {
  it.each(checkFeed(() => makeClient(variant, kind)))("$title", async ({ name, check }) => {
    expect(await check()).toEqual(
      (kind.isRemovable ? undefined : skipped[name]) ?? { kind: "passed" },
    );
  });
});
