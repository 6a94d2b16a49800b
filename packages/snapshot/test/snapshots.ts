import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createCache, keepResource, type Cache } from "@xdstp/cache";
import type {
  Committed,
  Interest,
  Put,
  Resource,
  ResourceFeed,
  ResourceSink,
  Transaction,
} from "@xdstp/core";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import { keepSnapshot } from "../src/keep-snapshot.ts";
import type { SnapshotEvent, SnapshotOptions } from "../src/snapshot.ts";
import type { RowChange } from "../src/record.ts";
import type { OpenDisk } from "../src/snapshot-disk.ts";
import { SnapshotStore } from "../src/snapshot-store.ts";
import { commitWhole } from "../../rollout/test/commit-whole.ts";
import { directDisk } from "./direct-disk.ts";
import { flagUrl } from "../../rollout/test/flag.ts";

/**
 * Creates a directory that is removed after the test. @param parent - The folder that contains it
 */
export function useDir(parent = tmpdir()): string {
  const dir = mkdtempSync(join(parent, "xdstp-snapshot-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** Returns all bytes of the database in a directory, with the write-ahead log. */
export function bytesIn(dir: string): Buffer {
  return Buffer.concat(
    readdirSync(dir)
      .filter((file) => file.startsWith("snapshot.db") && !file.endsWith("-shm"))
      .map((file) => readFileSync(join(dir, file))),
  );
}

/** A store and its events. */
export interface OpenStore {
  readonly store: SnapshotStore;
  readonly events: SnapshotEvent[];
}

/** @param disk - Default: a disk that writes synchronously */
export function openStore(
  dir: string,
  options: Partial<SnapshotOptions> = {},
  disk: OpenDisk = directDisk,
): OpenStore {
  const events: SnapshotEvent[] = [];
  const store = new SnapshotStore(
    {
      dir,
      clock: createFakeClock({ start: 1_000_000 }),
      onEvent: (event) => {
        events.push(event);
      },
      ...options,
    },
    disk,
  );
  onTestFinished(() => store.close());
  return { store, events };
}

/** Returns a disk that writes synchronously, and the list of its changes. */
export function noteChanges(): { readonly changes: RowChange[]; readonly disk: OpenDisk } {
  const changes: RowChange[] = [];
  const disk: OpenDisk = (...place) => {
    const direct = directDisk(...place);
    return {
      write: (chunk) => {
        changes.push(...chunk.changes);
        return direct.write(chunk);
      },
      close: () => direct.close(),
    };
  };
  return { changes, disk };
}

/** Returns a disk that writes synchronously while `error` is undefined. */
export function createFaultyDisk(): { error: Error | undefined; tries: number; open: OpenDisk } {
  const faulty: ReturnType<typeof createFaultyDisk> = {
    error: undefined,
    tries: 0,
    open: (...place) => {
      const direct = directDisk(...place);
      return {
        write: async (chunk) => {
          faulty.tries++;
          if (faulty.error !== undefined) throw faulty.error;
          return direct.write(chunk);
        },
        close: () => direct.close(),
      };
    },
  };
  return faulty;
}

/** Returns a put whose payload is a text. */
export function put(
  name: string,
  text = "1",
  more: Partial<Resource> = {},
  typeUrl: string = flagUrl,
): Put {
  return {
    typeUrl,
    resource: { name, version: "", payload: { typeUrl, value: Buffer.from(text) }, ...more },
  };
}

/** Writes one resource as a keeper does. */
export function store(
  into: SnapshotStore,
  name: string,
  text: string,
  more: Partial<Resource> = {},
  typeUrl: string = flagUrl,
): void {
  const { resource } = put(name, text, more, typeUrl);
  into.put(
    {
      space: "",
      typeUrl,
      name,
      constraints: resource.constraints,
      version: resource.version,
      expiresAt: resource.expireMs === undefined ? undefined : into.clock.now() + resource.expireMs,
    },
    keepResource(resource),
  );
}

/**
 * Returns the readable resources as `name=text`, sorted. `name?` is known and not stored. Complete
 * collections are `name!`.
 */
export function stateOf(of: SnapshotStore): readonly string[] {
  const records = [...of.index];
  const read = of
    .read(records.filter(({ state }) => state === "stored"))
    .map(
      ({ record, resource }) => `${record.name}=${Buffer.from(resource.payload.value).toString()}`,
    );
  const withheld = records.filter(({ state }) => state !== "stored").map(({ name }) => `${name}?`);
  return [
    ...read,
    ...withheld,
    ...Array.from(of.index.collections(), ({ interest: { name } }) => `${name}!`),
  ].sort();
}

/** An upstream that the test plays. */
export interface Upstream {
  readonly feed: ResourceFeed;
  /** Its sink, a part of the sink that it was given. A commit resolves when it is decided. */
  readonly sink: Omit<ResourceSink, "commit"> & {
    commit(transaction: Transaction): Promise<Committed>;
  };
  /** The subscribed names. */
  readonly wanted: Set<string>;
}

export function createUpstream(): Upstream {
  let part: ResourceSink | undefined;
  const wanted = new Set<string>();
  const feed: ResourceFeed = {
    run: (sink, signal) => {
      part = sink.part?.() ?? sink;
      return new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
    },
    want: (_, added, dropped) => {
      for (const { name } of dropped) wanted.delete(name);
      for (const { name } of added) wanted.add(name);
    },
  };
  return {
    feed,
    wanted,
    get sink() {
      const sink = part;
      if (sink === undefined) throw new Error("the feed does not run yet");
      return {
        ...sink,
        commit: async (transaction: Transaction) => commitWhole(sink, transaction),
      };
    },
  };
}

/** A relay without I/O except for its snapshot. */
export interface Kept extends OpenStore {
  readonly dir: string;
  readonly cache: Cache;
  readonly upstream: Upstream;
  readonly clock: FakeClock;
  /** Subscribes; resolves when the snapshot was read. */
  watch(...names: readonly (string | Interest)[]): Promise<void>;
  unwatch(...names: readonly string[]): Promise<void>;
  /** Subscribes to a name of another type than that of flags. */
  watchType(typeUrl: string, name: string): Promise<void>;
  /** Returns the text of a name, `none`, or `pending`, with `~` before it if it is stale. */
  shown(name: string, typeUrl?: string): string;
  /** Returns the members of a collection, sorted. */
  members(name: string): readonly string[];
  close(): Promise<void>;
}

/** Creates a cache over a snapshot over an upstream. */
export function useKept(
  dir: string,
  {
    space,
    disk,
    ...options
  }: Partial<SnapshotOptions> & {
    readonly clock?: FakeClock;
    readonly space?: string;
    readonly disk?: OpenDisk;
  } = {},
): Kept {
  const clock = options.clock ?? createFakeClock({ start: 1_000_000 });
  const opened = openStore(dir, { ...options, clock }, disk);
  const cache = createCache({ clock });
  const upstream = createUpstream();
  cache.addFeed(
    keepSnapshot(upstream.feed, opened.store, {
      inWildcard: () => true,
      ...(space !== undefined && { space }),
    }),
  );
  const watcher = { wake: () => undefined };
  const topicOf = (name: string, typeUrl: string = flagUrl) => cache.topic(typeUrl, { name });
  const close = async (): Promise<void> => {
    await cache.close();
    await opened.store.close();
  };
  onTestFinished(close);
  return {
    ...opened,
    dir,
    cache,
    upstream,
    clock,
    close,
    watch: async (...names) => {
      for (const name of names)
        cache.topic(flagUrl, typeof name === "string" ? { name } : name).watch(watcher);
      await turn();
    },
    unwatch: async (...names) => {
      for (const name of names) topicOf(name).unwatch(watcher);
      await turn();
    },
    watchType: async (typeUrl, name) => {
      topicOf(name, typeUrl).watch(watcher);
      await turn();
    },
    shown: (name, typeUrl) => {
      const topic = topicOf(name, typeUrl);
      const value = topic.members()[0]?.resource?.payload.value;
      return `${topic.stale === undefined ? "" : "~"}${value === undefined ? (topic.settled ? "none" : "pending") : Buffer.from(value).toString()}`;
    },
    members: (name) =>
      topicOf(name)
        .members()
        .flatMap(({ name: member, resource }) =>
          resource === undefined
            ? []
            : `${member.slice(member.lastIndexOf("/") + 1)}=${Buffer.from(resource.payload.value).toString()}`,
        )
        .sort(),
  };
}

/** Resolves after everything that waits for the end of the turn has run. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
