import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import { createClient } from "@xdstp/client";
import { DeltaDiscoveryRequestSchema, DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { createRelay } from "@xdstp/relay";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions } from "@xdstp/server";
import { clusterTemplate, clusterType } from "../clusters.ts";
import { createMemoryServer } from "../ingest/memory-channels.ts";
import { changeOf, globName, memberName, responsesOf } from "../ingest/responses.ts";

/** Something whose calls are listed. */
export interface Scenario {
  readonly title: string;
  /** Prepares it, and returns what is measured. */
  readonly run: () => Promise<() => Promise<void>>;
}

const template = clusterTemplate();
const bootstrap = {
  json: {
    xds_servers: [{ server_uri: "memory:1", channel_creds: [{ type: "insecure" }] }],
    node: { id: "calls" },
  },
};

/** All turns of the event loop that are due. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

export const scenarios: readonly Scenario[] = [
  {
    title: "one drain: a cluster changes that a delta client has by `*`",
    async run() {
      const cache = createCache({ types: envoyTypes });
      put(cache, 0);
      await subscribed({ source: cache });
      return async () => {
        put(cache, 1);
        await turns();
      };
    },
  },
  {
    title: "one intake of a client: a member of a watched glob changes",
    async run() {
      const server = createMemoryServer();
      const client = createClient({ channels: server.channels, bootstrap });
      void readAll(client.watchAll(ClusterSchema, globName));
      await turns();
      for (const response of responsesOf(10, 10)) server.give(response);
      await turns();
      return async () => {
        server.give(changeOf(1, 1));
        await turns();
      };
    },
  },
  {
    title: "one change through a relay: a cluster that a client has by name",
    async run() {
      const server = createMemoryServer();
      const relay = createRelay({ bootstrap, channels: server.channels });
      await subscribed(relay.serving, memberName(1));
      server.give(changeOf(1, 0));
      await turns();
      return async () => {
        server.give(changeOf(1, 1));
        await turns();
      };
    },
  },
];

function put(cache: ReturnType<typeof createCache>, stamp: number): void {
  cache.put({ typeUrl: clusterType, name: "cluster", value: template.fill(0, stamp) });
}

/** A delta client without a wire that accepts all that it is sent. */
async function subscribed(options: ServerOptions, name = "*"): Promise<void> {
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
  const stream = createServer(options).accept(path, "memory", {
    send({ bytes }) {
      const { nonce } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
      setImmediate(() => {
        request({ responseNonce: nonce });
      });
      return true;
    },
    close: ({ message }) => {
      throw new Error(message);
    },
  });
  if ("code" in stream) throw new Error(stream.message);
  const request = (fields: MessageInitShape<typeof DeltaDiscoveryRequestSchema>): void => {
    stream.onMessage(
      toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, { typeUrl: clusterType, ...fields }),
      ),
    );
  };
  request({ node: { id: "reader" }, resourceNamesSubscribe: [name] });
  await turns();
}

async function readAll(changes: AsyncIterable<unknown>): Promise<void> {
  const iterator = changes[Symbol.asyncIterator]();
  while ((await iterator.next()).done !== true) {
    /* nothing is done with it */
  }
}
