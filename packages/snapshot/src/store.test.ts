import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import {
  bytesIn,
  createFaultyDisk,
  noteChanges,
  openStore,
  stateOf,
  store as put,
  useDir,
} from "../test/snapshots.ts";
import { SnapshotInUse } from "./snapshot-lock.ts";
import { openSnapshot } from "./open-snapshot.ts";

const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const [a, b, c, glob] = ["ns/a", "ns/b", "ns/c", "ns/*"].map(flagName) as [
  string,
  string,
  string,
  string,
];

/** Returns the state of a directory after a restart, and the events of the restart. */
async function reopened(
  dir: string,
): Promise<readonly [state: readonly string[], told: readonly string[]]> {
  const { store, events } = openStore(dir);
  const state = stateOf(store);
  await store.close();
  return [state, events.map(({ kind }) => kind)];
}

describe("a snapshot on disk", () => {
  it("has after a restart what was written: resources, what was removed, and what was known completely [B-RELAY-9]", async () => {
    const dir = useDir();
    const { store } = openStore(dir);
    for (const name of [a, b, c]) put(store, name, "1", { version: "v" });
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    await store.flush();
    put(store, a, "2", { version: "w", ttlMs: 1_500, metadata: Buffer.of(10, 0), expireMs: 9_000 });
    const [gone] = [...store.index].filter(({ name }) => name === b);
    if (gone !== undefined) store.remove(gone);
    await store.close();
    const again = openStore(dir).store;
    expect(stateOf(again)).toEqual([`${glob}!`, `${a}=2`, `${c}=1`].sort());
    const [read] = again.read([...again.index].filter(({ name }) => name === a));
    expect(read?.resource).toMatchObject({
      name: a,
      version: "w",
      ttlMs: 1_500,
      metadata: Buffer.of(10, 0),
    });
    expect(read?.record.expiresAt).toBe(1_009_000);
    expect(readdirSync(dir).map((file) => statSync(join(dir, file)).mode & 0o777)).toEqual(
      readdirSync(dir).map(() => 0o600),
    );
  });

  it("is written within a second, by itself, and what is said meanwhile with it [B-RELAY-9]", async () => {
    const dir = useDir();
    const clock = createFakeClock({ start: 0 });
    const { store } = openStore(dir, { clock });
    put(store, a, "1");
    clock.advance(199);
    put(store, b, "1");
    expect(store.status()).toMatchObject({ waiting: 2, resources: 2 });
    const { fileBytes } = store.status();
    clock.advance(1);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(store.status()).toMatchObject({ waiting: 0, writtenAt: 200 });
    expect([clock.pending, store.status().fileBytes > fileBytes]).toEqual([0, true]);
  });

  it("has one relay at a time, in this process too, however the path is written, and says who has it", async () => {
    const dir = useDir();
    const link = join(useDir(), "link");
    symlinkSync(dir, link);
    const { store } = openStore(dir);
    for (const other of [dir, link, relative(process.cwd(), dir)])
      expect(() => openSnapshot({ dir: other })).toThrow(
        new XdsError(
          "FAILED_PRECONDITION",
          `the snapshot ${other} is in use by process ${process.pid}; give each process a directory of its own, or end that process`,
          { cause: new SnapshotInUse(other, process.pid) },
        ),
      );
    put(store, a, "1");
    await store.close();
    expect(await reopened(dir)).toEqual([[`${a}=1`], ["snapshot-opened"]]);
  });

  it("goes on when nothing can be written, says so once, tries again later and later, and loses nothing then", async () => {
    const dir = useDir();
    const clock = createFakeClock({ start: 0 });
    const disk = createFaultyDisk();
    disk.error = new Error("database or disk is full");
    const { store, events } = openStore(dir, { clock }, disk.open);
    put(store, a, "1");
    await store.flush();
    for (let nth = 0; nth < 5; nth++) {
      put(store, b, `${nth}`);
      await store.flush();
    }
    expect(events).toEqual([
      expect.objectContaining({ kind: "snapshot-opened" }),
      {
        kind: "snapshot-trouble",
        retryMs: expect.any(Number) as number,
        message: `${join(dir, "snapshot.db")} cannot be written: database or disk is full; the relay goes on, and what upstream sends from now on would be lost by a restart; make room for it, or let this process write there`,
      },
    ]);
    expect([store.status().waiting, store.status().trouble, stateOf(store)]).toEqual([
      2,
      "database or disk is full",
      [`${a}=1`, `${b}=4`],
    ]);
    const { tries } = disk;
    clock.advance(900);
    expect(disk.tries).toBe(tries);
    disk.error = undefined;
    clock.advance(120_000);
    await store.flush();
    expect([events.at(-1), store.status().waiting, stateOf(store)]).toEqual([
      { kind: "snapshot-well", dir },
      0,
      [`${a}=1`, `${b}=4`],
    ]);
    await store.close();
    expect((await reopened(dir))[0]).toEqual([`${a}=1`, `${b}=4`]);
  });

  it("a batch that could not be written goes with what came since, and the newer state counts [B-RELAY-9]", async () => {
    const dir = useDir();
    const disk = createFaultyDisk();
    const { store } = openStore(dir, {}, disk.open);
    for (const name of [a, b, c]) put(store, name, "1", { version: "v", expireMs: 5_000 });
    disk.error = new Error("disk I/O error");
    const failing = store.flush();
    put(store, a, "2");
    put(store, b, "1", { version: "v", expireMs: 9_000 });
    for (const record of [...store.index]) if (record.name === c) store.remove(record);
    await failing;
    disk.error = undefined;
    await store.close();
    const again = openStore(dir).store;
    expect([stateOf(again), Array.from(again.index, ({ expiresAt }) => expiresAt)]).toEqual([
      [`${a}=2`, `${b}=1`],
      [undefined, 1_009_000],
    ]);
  });

  it("a disk that never answers does not keep the relay from anything else", async () => {
    const dir = useDir();
    let isAsked = false;
    const { store } = openStore(dir, {}, () => ({
      write: () => {
        isAsked = true;
        return new Promise(() => undefined);
      },
      close: async () => Promise.resolve(),
    }));
    store.close = async () => Promise.resolve(); // the original would wait for the disk
    put(store, a, "1");
    void store.flush();
    await expect.poll(() => isAsked).toBe(true);
    put(store, a, "2");
    put(store, b, "1");
    expect([stateOf(store), store.status().waiting]).toEqual([[`${a}=2`, `${b}=1`], 2]);
  });

  it("a batch is written in parts, and is in force as a whole: many and large resources [B-RELAY-9]", async () => {
    const dir = useDir();
    const { changes, disk } = noteChanges();
    const parts: number[] = [];
    const { store } = openStore(dir, {}, (...place) => {
      const inner = disk(...place);
      return {
        write: (chunk) => {
          parts.push(chunk.changes.length);
          return inner.write(chunk);
        },
        close: () => inner.close(),
      };
    });
    for (let nth = 0; nth < 1_200; nth++) put(store, flagName(`many/${nth}`), "1");
    for (const name of [a, b]) put(store, name, "x".repeat(2 << 20));
    await store.flush();
    expect([parts, changes.length]).toEqual([[500, 500, 201, 1], 1_202]);
    const state = stateOf(store);
    await store.close();
    expect([state.length, (await reopened(dir))[0]]).toEqual([1_202, state]);
  });

  it("says what is wrong with a directory that cannot be made, and with a file of a newer release", () => {
    const dir = useDir();
    writeFileSync(join(dir, "file"), "");
    expect(() => openSnapshot({ dir: join(dir, "file", "below") })).toThrow(
      /^\[FAILED_PRECONDITION\] the snapshot directory .*below cannot be made: ENOTDIR.*; give one that this process may write to$/,
    );
    const newer = useDir();
    const database = new DatabaseSync(join(newer, "snapshot.db"));
    database.exec(
      "PRAGMA application_id = 0x78647374; PRAGMA user_version = 2; CREATE TABLE x (y)",
    );
    database.close();
    expect(() => openSnapshot({ dir: newer })).toThrow(
      `${join(newer, "snapshot.db")} was written by a newer release; use that one, or give this one a directory of its own`,
    );
  });

  it("stores no secrets without a key, and encrypts them with one; another key gives none and says so", async () => {
    const dir = useDir();
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const plain = openStore(dir).store;
    put(plain, "cert", "PRIVATE KEY", {}, secretUrl);
    await plain.close();
    expect(bytesIn(dir).includes("PRIVATE KEY")).toBe(false);
    const sealed = openStore(dir, { secretKey: key }).store;
    expect(stateOf(sealed)).toEqual(["cert?"]);
    put(sealed, "cert", "PRIVATE KEY", {}, secretUrl);
    await sealed.close();
    expect(bytesIn(dir).includes("PRIVATE KEY")).toBe(false);
    const withIt = openStore(dir, { secretKey: key }).store;
    expect(stateOf(withIt)).toEqual(["cert=PRIVATE KEY"]);
    await withIt.close();
    for (const [secretKey, why] of [
      [other, "the secretKey is another one"],
      [undefined, "secretKey is missing"],
    ] as const) {
      const { store, events } = openStore(dir, secretKey === undefined ? {} : { secretKey });
      expect(stateOf(store)).toEqual(["cert?"]);
      expect(events.at(-1)).toEqual({
        kind: "snapshot-locked",
        resources: 1,
        message: `1 secrets in ${dir} cannot be read, since ${why}; they are pending until upstream answers; give the key that they were stored with`,
      });
      await store.close();
    }
    expect(() => openSnapshot({ dir, secretKey: Buffer.alloc(16) })).toThrow(
      "the secretKey of a snapshot has 16 bytes; give 32, as randomBytes(32) makes them",
    );
    expect(stateOf(openStore(dir, { secretKey: key }).store)).toEqual(["cert=PRIVATE KEY"]);
  });

  it("is as large as what is asked for, and beyond maxBytes what nobody asks for goes, the oldest first [B-RELAY-10]", async () => {
    const dir = useDir();
    const clock = createFakeClock({ start: 0 });
    const { store, events } = openStore(dir, { clock, maxBytes: 3_000 });
    store.subscribers.add((one) => "name" in one && one.name === a);
    const names = [a, ...Array.from({ length: 9 }, (_, nth) => flagName(`ns/old-${nth}`))];
    for (const name of names) {
      clock.advance(1_000);
      put(store, name, "x".repeat(400));
    }
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    await store.flush();
    expect(store.status().resources).toBe(10);
    clock.advance(600_000);
    put(store, c, "1");
    await store.flush();
    const left = [...store.index].map(({ name }) => name);
    expect([
      left.includes(a),
      left.includes(c),
      left.includes(flagName("ns/old-8")),
      left.includes(flagName("ns/old-0")),
    ]).toEqual([true, true, true, false]);
    expect([
      store.index.bytes <= 3_000,
      events.at(-1)?.kind,
      [...store.index.collections()],
    ]).toEqual([true, "snapshot-evicted", []]);
    const state = stateOf(store);
    await store.close();
    expect((await reopened(dir))[0]).toEqual(state);
  });

  it("keeps its directory to itself", () => {
    const dir = join(useDir(), "made");
    openStore(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    chmodSync(dir, 0o700);
  });
});
