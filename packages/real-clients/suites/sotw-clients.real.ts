import { fromBinary } from "@bufbuild/protobuf";
import type { WatchedType } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { useGrpcBackend } from "../src/grpc-backend.ts";
import { grpcBootstrap } from "../src/grpc-bootstrap.ts";
import { startGrpcClient } from "../src/grpc-client.ts";
import type { GrpcProgram } from "../src/programs.ts";
import { apiListener, cluster, endpoints, route, type TestResource } from "../src/resources.ts";
import { type Heard, type ScriptedAds, useScriptedAds } from "../src/scripted-ads.ts";
import { useXdsClient } from "../src/xds-client.ts";

/** Starts a client that follows the listener `svc` and all behind it. */
type Start = (port: number) => void;

const names = [
  "start",
  "an update",
  "a name more, of which the resource is bad, and a good change",
  "its correction",
  "a reconnect",
  "a cluster is deleted",
  "a name less",
] as const;
type Step = (typeof names)[number];
type Story = Readonly<Record<Step, Heard>>;

/** The requests of a stream that have the node (C-NODE-1). */
type WithNode = "the first request" | "each request";

/** Plays the same steps to each client. */
async function play(start: Start, withNode: WithNode): Promise<Story> {
  const server = await useScriptedAds();
  const backend = await useGrpcBackend("here");
  const one = (service: string, more = {}): TestResource => cluster("c", service, more);
  const two = (more = {}): TestResource => cluster("d", "f", more);
  server.publish(
    "v1",
    apiListener("svc", "r"),
    route("r", "c"),
    one("e"),
    endpoints("e", backend),
    endpoints("f", backend),
    endpoints("g", backend),
  );
  const told: Heard[] = [];
  const step = async (act: (server: ScriptedAds) => void): Promise<void> => {
    act(server);
    told.push(await server.heard());
  };
  await step(() => {
    start(server.port);
  });
  await step(() => {
    server.publish("v2", one("e", { connect_timeout: "2s" }));
  });
  await step(() => {
    server.publish("v3", one("g"), two({ lb_policy: "MAGLEV" }));
    server.publish("v3", both);
  });
  await step(() => {
    server.publish("v4", one("g", { connect_timeout: "4s" }), two());
  });
  await step(() => {
    server.cut();
  });
  await step(() => {
    server.publish("v5", one("g", { connect_timeout: "4s" }));
  });
  await step(() => {
    server.publish("v6", route("r", "c"));
  });
  expect(server.nodes).toEqual(
    [0, 1].map((stream) =>
      server.nodes[stream]?.map((_, index) => index === 0 || withNode === "each request"),
    ),
  );
  return Object.fromEntries(names.map((name, index) => [name, told[index] ?? {}])) as Story;
}

const both: TestResource = {
  ...route("r", "c"),
  body: {
    name: "r",
    virtual_hosts: [
      {
        name: "v",
        domains: ["*"],
        routes: [
          {
            match: { prefix: "/" },
            route: {
              weighted_clusters: {
                clusters: [
                  { name: "c", weight: 1 },
                  { name: "d", weight: 1 },
                ],
              },
            },
          },
        ],
      },
    ],
  },
};

/** Ours: by a walk, and it rejects the load balancer that the others do not have. */
const startOurs: Start = (port) => {
  const { client } = useXdsClient(`127.0.0.1:${port}`, { variant: "sotw" });
  const types = {
    routes: typeOf(routeConfiguration.typeUrl),
    clusters: typeOf(clusterType.typeUrl),
    endpoints: typeOf(clusterLoadAssignment.typeUrl),
  };
  const walk = client.walk(typeOf(listenerType.typeUrl), "svc", { types });
  void drain(walk);
};

async function drain(updates: AsyncIterable<unknown>): Promise<void> {
  const read = updates[Symbol.asyncIterator]();
  while ((await read.next()).done !== true);
}

function typeOf(typeUrl: string): WatchedType<object> {
  const schema = envoyRegistry().getMessage(typeUrl.replace(/^.*\//, ""));
  if (schema === undefined) throw new Error(`the registry has no ${typeUrl}`);
  const decode = (payload: Uint8Array): object => {
    const message = fromBinary(schema, payload);
    if ("lbPolicy" in message && message.lbPolicy === MAGLEV)
      throw new Error("lb_policy: MAGLEV is not supported");
    return message;
  };
  return { typeUrl, decode };
}

const MAGLEV = 5;

/** The content of each message by the rules. */
const ours: Story = {
  start: {
    listeners: ["ask, no version, no nonce, svc", "ACK, v1, svc"],
    routes: ["ask, no version, no nonce, r", "ACK, v1, r"],
    clusters: ["ask, no version, no nonce, c", "ACK, v1, c"],
    endpoints: ["ask, no version, no nonce, e", "ACK, v1, e"],
  },
  "an update": { clusters: ["ACK, v2, c"] },
  // The good change to c was taken, since its new endpoints are asked for; those in use stay until the whole is complete (C-ORD-7).
  "a name more, of which the resource is bad, and a good change": {
    routes: ["ACK, v3, r"],
    clusters: ["ACK, v3, c", "ask, v3, c d", "NACK 3, v3, c d"],
    endpoints: ["ask, v1, e g", "ACK, v1, e g"],
  },
  "its correction": {
    clusters: ["ACK, v4, c d"],
    endpoints: ["ask, v1, e f g", "ACK, v1, e f g", "ask, v1, f g"],
  },
  "a reconnect": {
    listeners: ["ask, v1, no nonce, svc", "ACK, v1, svc"],
    routes: ["ask, v3, no nonce, r", "ACK, v3, r"],
    clusters: ["ask, v4, no nonce, c d", "ACK, v4, c d"],
    endpoints: ["ask, v1, no nonce, f g", "ACK, v1, f g"],
  },
  // The routes still lead to it: what was complete stays in force (C-ORD-7).
  "a cluster is deleted": { clusters: ["ACK, v5, c d"] },
  "a name less": { routes: ["ACK, v6, r"], clusters: ["ask, v5, c"], endpoints: ["ask, v1, g"] },
};

/** The differences of all gRPC libraries: they change each cluster by itself, and drop the previous one. */
const gone: Partial<Story> = {
  "a name more, of which the resource is bad, and a good change": { endpoints: ["g"] },
  "a cluster is deleted": { endpoints: ["g"] },
  "a name less": { endpoints: [] },
};

/** The differences between the libraries: the code of a NACK (C-ACK-14), and the requests with the node. */
const traits: Readonly<
  Record<GrpcProgram, { readonly code: number; readonly withNode: WithNode }>
> = {
  grpcio: { code: 3, withNode: "the first request" },
  "grpc-js-xds": { code: 14, withNode: "the first request" },
  "grpc-go": { code: 3, withNode: "the first request" },
  "grpc-java": { code: 3, withNode: "each request" },
};

/** Reduces the requests for endpoints to the last list: the number of requests before it depends on the order in which responses are read. */
function comparable(story: Story): readonly (readonly [Step, Heard])[] {
  return names.map((name) => {
    const { endpoints: asked = [], ...rest } = story[name];
    const [last] = asked.slice(-1);
    return [
      name,
      { ...rest, endpoints: last === undefined ? [] : [last.split(", ").at(-1) ?? ""] },
    ];
  });
}

const suite = "beside each other, of a server that does the same for all (sotw/ads)";

describe(`xdstp: ${suite}`, { meta: { program: "xdstp", version: process.version, suite } }, () => {
  it("our client says what the rules want, message by message [C-ACK-2] [C-ACK-3] [C-ACK-5] [C-ACK-14] [C-RECON-2] [C-VER-6] [C-NONCE-3] [C-NODE-1] [C-SUB-10] [C-ORD-7]", async () => {
    expect(await play(startOurs, "the first request")).toEqual(ours);
  });
});

for (const program of ["grpcio", "grpc-js-xds", "grpc-go", "grpc-java"] as const) {
  describeProgram(program, suite, (command) => {
    it("says the same as our client, message by message, but for what is listed", async () => {
      const { code, withNode } = traits[program];
      const story = await play((port) => {
        void startGrpcClient(program, command, grpcBootstrap(port), "xds:///svc")
          .call()
          .catch(() => undefined);
      }, withNode);
      const wanted = comparable(ours).map(([name, heard]) => {
        const { clusters, ...rest } = { ...heard, ...gone[name] };
        return [
          name,
          {
            ...rest,
            ...(clusters === undefined
              ? {}
              : { clusters: clusters.map((line) => line.replace("NACK 3", `NACK ${code}`)) }),
          },
        ];
      });
      expect(comparable(story)).toEqual(wanted);
    });
  });
}
