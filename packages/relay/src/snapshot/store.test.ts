import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";

import { XdsError } from "@xdstp/core";
import { createFakeClock, createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { journalOf, openStore, stateOf, store as put, useDir } from "../../test/snapshots.ts";
import { encodeFrame, FrameKind } from "./frame.ts";
import { FORMAT, type Disk } from "./journal.ts";
import { openSnapshot } from "./open-snapshot.ts";
import { SnapshotInUse } from "./snapshot-in-use.ts";
import { SnapshotStore } from "./snapshot-store.ts";

const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const [a, b, c, glob] = ["ns/a", "ns/b", "ns/c", "ns/*"].map(flagName) as [
  string,
  string,
  string,
  string,
];

/** State of a directory after a restart, and what the restart told next to. */
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
    expect([statSync(journalOf(dir)).mode & 0o777, existsSync(join(dir, "lock"))]).toEqual([
      0o600,
      true,
    ]);
  });

  it("is written within a second, by itself, and what is said meanwhile with it [B-RELAY-9]", async () => {
    const dir = useDir();
    const clock = createFakeClock({ start: 0 });
    const { store } = openStore(dir, { clock });
    put(store, a, "1");
    clock.advance(199);
    put(store, b, "1");
    expect([store.status().waiting, store.status().fileBytes]).toEqual([2, 0]);
    clock.advance(1);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect([store.status().waiting, clock.pending]).toEqual([0, 0]);
    await store.flush();
    expect(store.status()).toMatchObject({ writtenAt: 200, resources: 2 });
    expect(statSync(journalOf(dir)).size).toBe(store.status().fileBytes);
  });

  it("a crash at any byte of a write leaves what was before it [B-RELAY-9]", async () => {
    const dir = useDir();
    const { store } = openStore(dir);
    put(store, a, "1");
    put(store, b, "1");
    await store.flush();
    const before = stateOf(store);
    const whole = readFileSync(journalOf(dir)).length;
    put(store, a, "2");
    put(store, c, "1");
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    await store.close();
    const bytes = readFileSync(journalOf(dir));
    const after = [
      ...before.filter((one) => !one.startsWith(a)),
      `${a}=2`,
      `${c}=1`,
      `${glob}!`,
    ].sort();
    expect((await reopened(dir))[0]).toEqual(after);
    for (let length = whole; length < bytes.length; length++) {
      writeFileSync(journalOf(dir), bytes.subarray(0, length));
      const [state, told] = await reopened(dir);
      expect([length, state, told]).toEqual([
        length,
        before,
        length === whole ? ["snapshot-opened"] : ["snapshot-torn", "snapshot-opened"],
      ]);
    }
    for (let length = 0; length < whole; length++) {
      writeFileSync(journalOf(dir), bytes.subarray(0, length));
      expect([length, (await reopened(dir))[0]]).toEqual([length, []]);
    }
  });

  it("what is written after a crash stands in the place of what was torn [B-RELAY-9]", async () => {
    const dir = useDir();
    const first = openStore(dir).store;
    put(first, a, "1");
    await first.flush();
    put(first, b, "a text that is longer than the next");
    await first.close();
    truncateSync(journalOf(dir), readFileSync(journalOf(dir)).length - 3);
    const second = openStore(dir).store;
    put(second, c, "1");
    await second.close();
    expect(await reopened(dir)).toEqual([[`${a}=1`, `${c}=1`], ["snapshot-opened"]]);
  });

  it("a compaction keeps all that is of use, and so does a crash at any byte of it [B-RELAY-9]", async () => {
    const dir = useDir();
    const seen: (readonly [old: Buffer, made: Buffer])[] = [];
    const disk: Disk = {
      open,
      rename: async (from, to) => {
        seen.push([readFileSync(to as string), readFileSync(from as string)]);
        await rename(from, to);
      },
    };
    const store = new SnapshotStore({ dir, clock: createFakeClock({ start: 1_000_000 }) }, disk);
    put(store, b, "1", { expireMs: 5_000 });
    put(store, c, "gone", { noStore: true });
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    for (let round = 0; round < 5; round++) {
      put(store, a, `${"x".repeat(1 << 20)}${round}`);
      await store.flush();
    }
    put(store, a, "small");
    await store.flush();
    const state = stateOf(store);
    expect([state, seen.length, store.status().fileBytes < 2_000]).toEqual([
      [`${a}=small`, `${b}=1`, `${c}?`, `${glob}!`].sort(),
      1,
      true,
    ]);
    await store.close();
    const [old, made] = seen[0] ?? [Buffer.of(), Buffer.of()];
    expect([(await reopened(dir))[0], readFileSync(journalOf(dir)).equals(made)]).toEqual([
      state,
      true,
    ]);
    writeFileSync(journalOf(dir), old);
    for (let length = 0; length <= made.length; length++) {
      writeFileSync(`${journalOf(dir)}.new`, made.subarray(0, length));
      const [left, told] = await reopened(dir);
      expect([length, left, told]).toEqual([length, state, ["snapshot-opened"]]);
    }
  });

  it("what is said while it compacts is kept too, before and after it is read again [B-RELAY-9]", async () => {
    const dir = useDir();
    const { store } = openStore(dir);
    for (let nth = 0; nth < 1_100; nth++) put(store, flagName(`many/${nth}`), "1");
    for (let round = 0; round < 5; round++) {
      put(store, a, `${"x".repeat(1 << 20)}${round}`);
      const flushed = store.flush();
      for (let nth = 0; nth < 20; nth++) {
        put(store, flagName(`many/${nth + 20 * round}`), `${round}`);
        put(store, b, `${round}.${nth}`);
        expect(stateOf(store)).toHaveLength(1_102);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      await flushed;
    }
    const state = stateOf(store);
    await store.close();
    expect((await reopened(dir))[0]).toEqual(state);
    expect(state).toContain(`${b}=4.19`);
  });

  it("sets a file with corruption in its midst aside, says where, and keeps what can be read [B-RELAY-9]", async () => {
    for (let seed = 1; seed <= 80; seed++) {
      const random = createSeededRandom(seed);
      const dir = useDir();
      const { store } = openStore(dir);
      for (let nth = 0; nth < 12; nth++) {
        put(store, flagName(`ns/${nth}`), `value ${nth}`);
        if (nth % 3 === 2) await store.flush();
      }
      store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
      await store.flush();
      const state = stateOf(store);
      await store.close();
      const bytes = readFileSync(journalOf(dir));
      const at = random.below(bytes.length);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at);
      writeFileSync(journalOf(dir), bytes);
      const { store: again, events } = openStore(dir);
      const left = stateOf(again);
      await again.close();
      expect(state).toEqual(expect.arrayContaining([...left]));
      const corrupt = events.find(({ kind }) => kind === "snapshot-corrupt");
      if (corrupt?.kind === "snapshot-corrupt") {
        expect([
          left.length >= 11,
          left.includes(`${glob}!`),
          readFileSync(corrupt.aside).equals(bytes),
        ]).toEqual([true, false, true]);
        expect(corrupt.offset).toBeLessThanOrEqual(at);
        expect(corrupt.message).toMatch(
          /is corrupt at byte \d+: \d+ bytes in 1 places are lost.*it is kept as .*corrupt-1970-01-01T00-16-40.000Z/,
        );
        // The file that is used from now on is whole.
        expect(await reopened(dir)).toEqual([left, ["snapshot-opened"]]);
      } else {
        expect([events.map(({ kind }) => kind), left]).toEqual([
          ["snapshot-torn", "snapshot-opened"],
          state.filter((one) => left.includes(one)),
        ]);
      }
    }
  });

  it.each([
    ["what was never a snapshot", 0],
    ["something else behind what was written", 1],
  ])("sets %s aside too: no crash leaves that [B-RELAY-9]", async (_, kept) => {
    const dir = useDir();
    const { store } = openStore(dir);
    put(store, a, "1");
    store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
    await store.close();
    const bytes = Buffer.concat([
      readFileSync(journalOf(dir)).subarray(0, kept === 0 ? 0 : undefined),
      Buffer.from("root:x:0:0:root\n".repeat(9)),
    ]);
    writeFileSync(journalOf(dir), bytes);
    const { store: again, events } = openStore(dir);
    const left = stateOf(again);
    await again.close();
    expect([events.map(({ kind }) => kind), left]).toEqual([
      ["snapshot-corrupt", "snapshot-opened"],
      kept === 0 ? [] : [`${a}=1`],
    ]);
    const corrupt = events.find(({ kind }) => kind === "snapshot-corrupt");
    expect(corrupt?.kind === "snapshot-corrupt" && readFileSync(corrupt.aside).equals(bytes)).toBe(
      true,
    );
    expect(await reopened(dir)).toEqual([left, ["snapshot-opened"]]);
  });

  it("takes zeros for the end of a batch that a disk has not written before it lost power [B-RELAY-9]", async () => {
    const dir = useDir();
    const { store } = openStore(dir);
    put(store, a, "1");
    await store.close();
    writeFileSync(
      journalOf(dir),
      Buffer.concat([readFileSync(journalOf(dir)), Buffer.alloc(4_096)]),
    );
    expect(await reopened(dir)).toEqual([[`${a}=1`], ["snapshot-torn", "snapshot-opened"]]);
  });

  it("does not begin with a file that cannot be read, and says so", () => {
    const dir = useDir();
    mkdirSync(journalOf(dir));
    expect(() => openSnapshot({ dir })).toThrow(
      `${journalOf(dir)} is not a regular file, and a snapshot is kept in regular files only; remove it, or give another directory`,
    );
    expect(readdirSync(dir)).not.toContain("lock");
  });

  it("has one process at a time, and takes over what a dead one has left", async () => {
    const dir = useDir();
    const { store } = openStore(dir);
    expect(() => openSnapshot({ dir })).toThrow(
      new XdsError(
        "FAILED_PRECONDITION",
        `the snapshot ${dir} is in use by process ${process.pid}; give each relay a directory of its own, end that process, or remove ${join(dir, "lock")} if it is not a relay`,
        { cause: new SnapshotInUse(dir, process.pid) },
      ),
    );
    await store.close();
    expect(readdirSync(dir)).not.toContain("lock");
    writeFileSync(join(dir, "lock"), `${process.ppid}\n`);
    expect(() => openSnapshot({ dir })).toThrow(`is in use by process ${process.ppid};`);
    for (const left of [`${2 ** 22 + 1}\n`, "", `${process.pid}\n`]) {
      writeFileSync(join(dir, "lock"), left);
      await openSnapshot({ dir }).close();
    }
  });

  it("goes on when nothing can be written, says so once, tries again later and later, and loses nothing then", async () => {
    const dir = useDir();
    const clock = createFakeClock({ start: 0 });
    const events: string[] = [];
    let full = true;
    let tries = 0;
    const disk: Disk = {
      rename,
      open: async (...args: Parameters<typeof open>) => {
        const file = await open(...args);
        const write = file.write.bind(file) as (
          bytes: Uint8Array,
          from: number,
          length: number,
          at: number,
        ) => ReturnType<typeof file.write>;
        const failing: typeof write = async (bytes, from, length, at) => {
          tries++;
          if (!full) return write(bytes, from, length, at);
          await write(bytes, from, 10, at); // a part of it, as when the disk is full
          throw new Error("ENOSPC: no space left on device, write");
        };
        file.write = failing as typeof file.write;
        return file;
      },
    };
    const store = new SnapshotStore(
      {
        dir,
        clock,
        onEvent: (event) => {
          events.push(
            event.kind === "snapshot-trouble"
              ? `${event.kind} ${event.message.replace(dir, "DIR")}`
              : event.kind === "snapshot-well"
                ? `${event.kind} ${event.dir.replace(dir, "DIR")}`
                : event.kind,
          );
        },
      },
      disk,
    );
    put(store, a, "1");
    await store.flush();
    for (let nth = 0; nth < 5; nth++) {
      put(store, b, `${nth}`);
      await store.flush();
    }
    expect(events).toEqual([
      "snapshot-opened",
      "snapshot-trouble DIR/snapshot.journal cannot be written: ENOSPC: no space left on device, write; what upstream says since is served and would be lost by a restart; make room for it, or let this process write there",
    ]);
    expect(store.status()).toMatchObject({
      waiting: 2,
      trouble: "ENOSPC: no space left on device, write",
    });
    const before = tries;
    clock.advance(900);
    expect(tries).toBe(before);
    full = false;
    clock.advance(120_000);
    await store.flush();
    expect([events.at(-1), store.status().waiting, stateOf(store)]).toEqual([
      "snapshot-well DIR",
      0,
      [`${a}=1`, `${b}=4`],
    ]);
    await store.close();
    expect((await reopened(dir))[0]).toEqual([`${a}=1`, `${b}=4`]);
  });

  it("says what is wrong with a directory that cannot be made, and with a file of a newer release", () => {
    const dir = useDir();
    writeFileSync(join(dir, "file"), "");
    expect(() => openSnapshot({ dir: join(dir, "file", "below") })).toThrow(
      /^\[FAILED_PRECONDITION\] the snapshot directory .*below cannot be made: ENOTDIR.*; give one that this process may write to$/,
    );
    writeFileSync(journalOf(dir), encodeFrame(FrameKind.COMMIT, 1, { format: FORMAT + 1 }));
    expect(() => openSnapshot({ dir })).toThrow(
      `${journalOf(dir)} was written by a newer release; use that one, or give this one a directory of its own`,
    );
  });

  it("stores no secrets without a key, and encrypts them with one; another key gives none and says so", async () => {
    const dir = useDir();
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const plain = openStore(dir).store;
    put(plain, "cert", "PRIVATE KEY", {}, secretUrl);
    await plain.close();
    expect(readFileSync(journalOf(dir)).includes("PRIVATE KEY")).toBe(false);
    const sealed = openStore(dir, { secretKey: key }).store;
    expect(stateOf(sealed)).toEqual(["cert?"]);
    put(sealed, "cert", "PRIVATE KEY", {}, secretUrl);
    await sealed.close();
    expect(readFileSync(journalOf(dir)).includes("PRIVATE KEY")).toBe(false);
    const withIt = openStore(dir, { secretKey: key }).store;
    expect(stateOf(withIt)).toEqual(["cert=PRIVATE KEY"]);
    await withIt.close();
    for (const [secretKey, why] of [
      [other, "the secretKey is another one"],
      [undefined, "there is no secretKey"],
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
    store.wants.add((one) => "name" in one && one.name === a);
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
