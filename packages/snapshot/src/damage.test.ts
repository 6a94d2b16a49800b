import {
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { createSeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { openStore, stateOf, store as put, useDir } from "../test/snapshots.ts";
import type { SnapshotEvent } from "./snapshot.ts";

const glob = flagName("ns/*");
const aside = (events: readonly SnapshotEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === "snapshot-set-aside" ? (event.aside ?? "none") : []));

/** 4,000 seeds with XDSTP_SCALE=1; a hundredth of that by default. */
const seeds = Math.ceil(4_000 * Number(process.env.XDSTP_SCALE ?? "0.01"));

/** A directory with 60 resources in the database, some of them large. */
async function written(): Promise<{ readonly dir: string; readonly state: readonly string[] }> {
  const dir = useDir();
  const { store } = openStore(dir);
  for (let nth = 0; nth < 60; nth++)
    put(store, flagName(`ns/${nth}`), `value ${nth} `.repeat(nth % 10 === 0 ? 1_000 : 5));
  store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
  await store.flush();
  const state = stateOf(store);
  await store.close();
  return { dir, state };
}

it.each(["flipped", "cut off"] as const)(
  "a file with bits that are %s is set aside or used, never anything that was not stored, and the relay stores again [B-RELAY-9]",
  async (how) => {
    const whole = await written();
    for (let seed = 1; seed <= seeds; seed++) {
      const random = createSeededRandom(seed);
      const dir = useDir();
      const path = join(dir, "snapshot.db");
      copyFileSync(join(whole.dir, "snapshot.db"), path);
      const bytes = readFileSync(path);
      const at = random.below(bytes.length);
      if (how === "flipped") bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at);
      const damaged = how === "flipped" ? bytes : bytes.subarray(0, at);
      writeFileSync(path, damaged);
      const { store, events } = openStore(dir);
      const left = stateOf(store);
      const note = `seed ${seed}, byte ${at}`;
      expect([note, left.filter((one) => !whole.state.includes(one))]).toEqual([note, []]);
      const kept = aside(events);
      const isLost = kept.length > 0 || events.some(({ kind }) => kind === "snapshot-lost");
      if (isLost) expect([note, left.includes(`${glob}!`)]).toEqual([note, false]);
      else expect([note, left]).toEqual([note, damaged.length === 0 ? [] : whole.state]);
      for (const file of kept)
        expect([note, readFileSync(file).equals(damaged)]).toEqual([note, true]);
      put(store, flagName("ns/new"), "1");
      await store.close();
      const again = openStore(dir);
      expect([note, stateOf(again.store)]).toEqual([
        note,
        [...left, `${flagName("ns/new")}=1`].sort(),
      ]);
      expect([note, aside(again.events)]).toEqual([note, []]);
      await again.store.close();
    }
  },
);

it("a write-ahead log that ends at any byte gives the state before or after, and nothing has to be set aside [B-RELAY-9]", async () => {
  const dir = useDir();
  const { store } = openStore(dir);
  const log = "snapshot.db-wal";
  put(store, flagName("ns/a"), "1");
  await store.flush();
  const [before, start] = [stateOf(store), statSync(join(dir, log)).size];
  put(store, flagName("ns/a"), "2");
  put(store, flagName("ns/b"), "1");
  store.settle({ space: "", typeUrl: flagUrl, interest: { name: glob } });
  await store.flush();
  const [after, end] = [stateOf(store), statSync(join(dir, log)).size];
  const seen = new Set<unknown>();
  for (let length = start; length <= end; length += length === end - 1 ? 1 : 61) {
    const torn = useDir();
    for (const file of ["snapshot.db", log]) copyFileSync(join(dir, file), join(torn, file));
    truncateSync(join(torn, log), Math.min(length, end));
    const again = openStore(torn);
    const state = stateOf(again.store);
    seen.add(JSON.stringify(state));
    expect([length, [before, after]]).toEqual([length, expect.arrayContaining([state])]);
    expect(again.events.map(({ kind }) => kind)).toEqual(["snapshot-opened"]);
    await again.store.close();
  }
  expect(seen.has(JSON.stringify(before))).toBe(true);
});

it.each([
  [
    "a text",
    (path: string) => {
      writeFileSync(path, "root:x:0:0:root\n".repeat(90));
    },
  ],
  [
    "zeros",
    (path: string) => {
      writeFileSync(path, "");
      truncateSync(path, 3 * 2 ** 30);
    },
  ],
  [
    "a database of another program",
    (path: string) => {
      const database = new DatabaseSync(path);
      database.exec("CREATE TABLE entry (id INTEGER)");
      database.close();
    },
  ],
])(
  "%s at the path is set aside as it was, and the relay starts without it [B-RELAY-9]",
  async (_, make) => {
    const dir = useDir();
    const path = join(dir, "snapshot.db");
    make(path);
    const { size } = statSync(path);
    const { store, events } = openStore(dir);
    expect(events.map(({ kind }) => kind)).toEqual(["snapshot-set-aside", "snapshot-opened"]);
    const [file = ""] = aside(events);
    expect([statSync(file).size, events[0]]).toEqual([
      size,
      expect.objectContaining({
        file: path,
        message: expect.stringMatching(
          /snapshot\.db is not a snapshot: .*; nothing in .* is served before upstream answers; it is kept as .*\.foreign-1970-01-01T00-16-40\.000Z; remove it when you do not need it$/,
        ) as string,
      }),
    ]);
    put(store, flagName("ns/a"), "1");
    await store.close();
    expect(stateOf(openStore(dir).store)).toEqual([`${flagName("ns/a")}=1`]);
  },
);

it("what lock.db holds does not matter, and is set aside too", () => {
  const dir = useDir();
  writeFileSync(join(dir, "lock.db"), "12345 started by something else\n".repeat(20));
  openStore(dir);
  expect(readdirSync(dir).filter((file) => file.startsWith("lock.db.foreign-"))).toHaveLength(1);
});

it("a snapshot of the format before is set aside with a line that says so, once", async () => {
  const dir = useDir();
  writeFileSync(join(dir, "snapshot.journal"), "XSNP and so on");
  const { store, events } = openStore(dir);
  expect(events[0]).toMatchObject({
    kind: "snapshot-set-aside",
    message: expect.stringMatching(
      /snapshot\.journal was written by a release before 0\.1\.0, and this one does not read it; nothing is served from it before upstream answers; it is kept as .*snapshot\.journal\.old-/,
    ) as string,
  });
  await store.close();
  expect(openStore(dir).events.map(({ kind }) => kind)).toEqual(["snapshot-opened"]);
});
