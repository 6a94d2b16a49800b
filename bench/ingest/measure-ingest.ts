import { fromBinary } from "@bufbuild/protobuf";
import { createClient, type Client, type CollectionWatch } from "@xdstp/client";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { ClusterSchema, type Cluster } from "@xdstp/protos/envoy/cluster";

import { createMemoryServer, type MemoryServer } from "./memory-channels.ts";
import { changeOf, globName, memberName, responsesOf } from "./responses.ts";

/** The ways to read payloads. */
export type Decode = "on-arrival" | "on-demand";

/** CPU in microseconds per resource; for a change, per change. */
export interface IngestMeasurement {
  readonly floor: number;
  readonly xdstp: number;
  readonly change: number;
}

const changes = 2_000;

/** Takes `count` members of a glob in, then one change after another, next to a loop that only decodes the same bytes. */
export async function measureIngest(count: number, decode: Decode): Promise<IngestMeasurement> {
  const responses = responsesOf(count, 1_000);
  const floor =
    cpuOf(() => {
      for (const response of responses) decodeOnly(response, decode);
    }) / count;
  const { client, server, watch } = await open(decode);
  const reader = readAll(watch);
  const xdstp =
    (await cpuOfAsync(async () => {
      for (const response of responses) {
        server.give(response);
        await turn();
      }
    })) / count;
  if (watch.members.size !== count)
    throw new Error(`${watch.members.size} members are there instead of ${count}`);
  const changed = Array.from({ length: changes }, (_, index) =>
    changeOf((index * 37) % count, index + 1),
  );
  const change =
    (await cpuOfAsync(async () => {
      for (const response of changed) {
        server.give(response);
        await turn();
      }
    })) / changes;
  await client.close();
  await reader;
  return { floor, xdstp, change };
}

/** Requests and bytes that so many names cost that are asked for at once. */
export async function measureNames(
  count: number,
): Promise<{ readonly requests: number; readonly bytes: number }> {
  const server = createMemoryServer();
  await using client = clientOf(server);
  for (let index = 0; index < count; index++) client.watch(ClusterSchema, memberName(index));
  await turn();
  return { requests: server.requests, bytes: server.bytes };
}

async function open(decode: Decode): Promise<{
  readonly client: Client;
  readonly server: MemoryServer;
  readonly watch: CollectionWatch<Cluster>;
}> {
  const server = createMemoryServer();
  const client = clientOf(server);
  const watch = client.watchAll(ClusterSchema, globName, { decode });
  await turn();
  return { client, server, watch };
}

function clientOf({ channels }: MemoryServer): Client {
  return createClient({
    channels,
    bootstrap: {
      json: {
        xds_servers: [{ server_uri: "bench:1", channel_creds: [{ type: "insecure" }] }],
        node: { id: "bench" },
      },
    },
  });
}

/** Takes each change as it comes. Resolves when the client is closed. */
async function readAll(watch: CollectionWatch<Cluster>): Promise<void> {
  const changes = watch[Symbol.asyncIterator]();
  while ((await changes.next()).done !== true) {
    /* nothing is done with it */
  }
}

function decodeOnly(response: Buffer, decode: Decode): void {
  const { resources } = fromBinary(DeltaDiscoveryResponseSchema, response);
  if (decode === "on-arrival")
    for (const { resource } of resources)
      if (resource !== undefined) fromBinary(ClusterSchema, resource.value);
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function cpuOfAsync(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
