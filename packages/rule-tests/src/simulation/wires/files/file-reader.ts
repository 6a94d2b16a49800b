import { fromBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import type { Clock, ResourceFeed } from "@xdstp/core";
import { createClientContext } from "@xdstp/protocol/client";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import type { SeededRandom } from "@xdstp/testing";
import {
  createFileChannel,
  createNativeFileFeed,
  type FileSystem,
} from "@xdstp/transport-file/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import type { Shown } from "../watch-view.ts";
import {
  CLUSTERS,
  EXPORT_FILE,
  NATIVE_DIR,
  nativePath,
  type Place,
  registry,
  VOLUME_FILE,
} from "./file-places.ts";

/** Watches a directory, as `fs.watch` does. */
export type WatchFiles = NonNullable<Parameters<typeof createFileChannel>[0]["watch"]>;

export interface FileReaderOptions {
  readonly place: Place;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly files: FileSystem;
  readonly watch: WatchFiles;
}

/** A program that watches the names of one place. */
export interface FileReader {
  watch(name: string): void;
  unwatch(name: string): void;
  /** Returns what the watch of a name shows. */
  shown(name: string): Shown;
  close(): void;
}

const watcher = { wake: (): void => undefined };
const METHOD = "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters";
/** All files of a directory; the watches of a reader of names of files are watches of this. */
const GLOB = `file://${NATIVE_DIR}/*`;

export function createFileReader(options: FileReaderOptions): FileReader {
  const { place, clock } = options;
  const cache = createCache({ types: envoyTypes, clock });
  const { feed, close } = place === "native" ? nativeFeed(options) : channelFeed(options, place);
  cache.addFeed(feed);
  const isNative = place === "native";
  const topicOf = (name: string) => cache.topic(CLUSTERS, { name: isNative ? GLOB : name });
  const watched = new Set<string>();
  return {
    watch(name) {
      if (!isNative || watched.size === 0) topicOf(name).watch(watcher);
      watched.add(name);
    },
    unwatch(name) {
      watched.delete(name);
      if (!isNative || watched.size === 0) topicOf(name).unwatch(watcher);
    },
    shown(name) {
      const topic = topicOf(name);
      if (!topic.settled) return { kind: "unknown" };
      const wanted = isNative ? `file://${nativePath(name)}` : name;
      const member = topic.members().find((entry) => entry.name === wanted);
      if (member?.resource === undefined) return { kind: "missing" };
      const { connectTimeout } = fromBinary(ClusterSchema, member.resource.payload.value);
      return { kind: "text", text: `v${connectTimeout?.seconds ?? 0n}` };
    },
    close() {
      void cache.close();
      close();
    },
  };
}

interface OpenFeed {
  readonly feed: ResourceFeed;
  readonly close: () => void;
}

function nativeFeed({ clock, files, watch }: FileReaderOptions): OpenFeed {
  const feed = createNativeFileFeed({ directory: NATIVE_DIR, registry, clock, files, watch });
  return { feed, close: () => undefined };
}

function channelFeed(
  { clock, random, files, watch }: FileReaderOptions,
  place: "export" | "volume",
): OpenFeed {
  const path = place === "export" ? EXPORT_FILE : VOLUME_FILE;
  const channel = createFileChannel({ path, registry, clock, files, watch });
  const types = new Map(envoyTypes.map((type) => [type.typeUrl, type]));
  const feed = createSotwClient(
    createClientContext({
      connect: (handler) => channel.open({ path: METHOD }, handler),
      node: new TextEncoder().encode("\n\x02me"),
      clock,
      random: () => random.next(),
      later: (callback) => {
        clock.after(0, callback);
      },
      descriptor: (typeUrl) => types.get(typeUrl),
      backoff: { maxMs: 5_000 },
    }),
  );
  return {
    feed,
    close: () => {
      channel.close();
    },
  };
}
