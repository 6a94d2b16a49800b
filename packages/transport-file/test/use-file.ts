import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import type { Topic } from "@xdstp/core";
import { createClientContext } from "@xdstp/protocol/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { onTestFinished } from "vitest";

import {
  createFileChannel,
  type FileChannel,
  type FileChannelOptions,
  type FileEvent,
} from "../src/client/index.ts";

export const clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
export const endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** The SotW method of each type in these tests. */
const methods: Readonly<Record<string, string>> = {
  [clusterType]: "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
  [endpointType]: "/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints",
};

/** A real directory that is removed after the test. Paths are relative to it. */
export interface Directory {
  readonly dir: string;
  /** Writes a file elsewhere, and renames it into its place. */
  readonly replace: (path: string, content: string | Uint8Array) => void;
  /** Writes a file in its place. */
  readonly write: (path: string, content: string | Uint8Array) => void;
  readonly remove: (path: string) => void;
  readonly rename: (from: string, to: string) => void;
  readonly link: (path: string, target: string) => void;
}

export function useDirectory(): Directory {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-file-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const inside = (path: string): string => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    return join(dir, path);
  };
  return {
    dir,
    replace(path, content) {
      writeFileSync(join(dir, ".new"), content);
      renameSync(join(dir, ".new"), inside(path));
    },
    write(path, content) {
      writeFileSync(inside(path), content);
    },
    remove(path) {
      rmSync(join(dir, path), { recursive: true });
    },
    rename(from, to) {
      renameSync(join(dir, from), inside(to));
    },
    link(path, target) {
      symlinkSync(target, inside(path));
    },
  };
}

/** A client that follows a file. */
export interface FileClient {
  readonly cache: Cache;
  readonly channel: FileChannel;
  readonly events: readonly FileEvent[];
  readonly topic: Topic;
  /** The clusters that the client has, as `name=seconds`, sorted. */
  held(): readonly string[];
  /** Waits until the client has these clusters. The time limit of the test ends it. */
  until(...held: readonly string[]): Promise<void>;
  /** Waits for the next event of this kind that was not returned before. */
  next<K extends FileEvent["kind"]>(kind: K): Promise<Extract<FileEvent, { kind: K }>>;
}

/** Runs a SotW client over a channel to a file, in a cache. */
export function useFileClient(
  options: Omit<FileChannelOptions, "registry" | "onEvent"> & {
    readonly registry?: FileChannelOptions["registry"];
    readonly typeUrl?: string;
    readonly name?: string;
  },
): FileClient {
  const { typeUrl = clusterType, name = "*", ...given } = options;
  const events: FileEvent[] = [];
  let seen = 0;
  const channel = createFileChannel({
    registry: envoyRegistry(),
    ...given,
    onEvent: (event) => events.push(event),
  });
  const types = new Map(envoyTypes.map((type) => [type.typeUrl, type]));
  const feed = createSotwClient(
    createClientContext({
      node: new TextEncoder().encode("\n\x02me"),
      connect: (handler) => channel.open({ path: methods[typeUrl] ?? "" }, handler),
      descriptor: (url) => types.get(url),
      ...(options.clock && { clock: options.clock }),
    }),
  );
  const cache = createCache({ types: envoyTypes, ...(options.clock && { clock: options.clock }) });
  onTestFinished(async () => {
    await cache.close();
    channel.close();
  });
  cache.addFeed(feed);
  const topic = cache.topic(typeUrl, { name });
  topic.watch({ wake: () => undefined });
  const client: FileClient = {
    cache,
    channel,
    events,
    topic,
    held: () =>
      topic
        .members()
        .flatMap(({ resource }) => {
          if (resource === undefined) return [];
          const cluster = fromBinary(ClusterSchema, resource.payload.value);
          return [`${cluster.name}=${String(cluster.connectTimeout?.seconds ?? 0n)}`];
        })
        .sort(),
    async until(...held) {
      const wanted = held.join();
      await waitFor(() => client.held().join() === wanted);
    },
    async next(kind) {
      for (;;) {
        await waitFor(() => events.length > seen);
        const event = events[seen++];
        if (event?.kind === kind) return event as Extract<FileEvent, { kind: typeof kind }>;
      }
    },
  };
  return client;
}

/** Waits until a condition holds, and checks it in each turn of the event loop. The time limit of the test ends it. */
export async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** A response with clusters in YAML, each as `name=seconds`. */
export function clustersInYaml(...clusters: readonly string[]): string {
  const members = clusters.map((one) => {
    const [name = "", seconds = "0"] = one.split("=");
    return `- "@type": ${clusterType}\n  name: ${name}\n  connect_timeout: ${seconds}s\n`;
  });
  return clusters.length === 0 ? "resources: []\n" : `resources:\n${members.join("")}`;
}
