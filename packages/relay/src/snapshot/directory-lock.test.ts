import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { createFakeClock } from "@xdstp/testing";
import { expect, it } from "vitest";

import { flagName } from "../../test/flag.ts";
import { journalOf, openStore, stateOf, store as put, useDir } from "../../test/snapshots.ts";

const [a, b] = ["ns/a", "ns/b"].map(flagName) as [string, string];

it("one process has a directory once, however its path is written", () => {
  const dir = useDir();
  const link = join(useDir(), "link");
  symlinkSync(dir, link);
  openStore(dir);
  for (const other of [link, relative(process.cwd(), dir)]) expect(() => openStore(other)).toThrow(`the snapshot ${other} is in use by process ${process.pid}`);
});

it("who is taken over by a process that it cannot see, as in another container, writes no more and says so, and leaves the other's lock alone", async () => {
  const dir = useDir();
  const clock = createFakeClock({ start: 0 });
  const { store, events } = openStore(dir, { clock });
  put(store, a, "1");
  await store.flush();
  const bytes = readFileSync(journalOf(dir));
  const others = `${process.pid} another\n`;
  writeFileSync(join(dir, "lock"), others);
  put(store, b, "1");
  await store.flush();
  expect(events.at(-1)).toMatchObject({ kind: "snapshot-trouble", message: expect.stringContaining(`the snapshot ${dir} is in use by process ${process.pid}; give each relay a directory of its own`) as string });
  await store.close();
  expect([readFileSync(journalOf(dir)).equals(bytes), readFileSync(join(dir, "lock"), "utf8")]).toEqual([true, others]);
});

it("a lock that somebody has removed is put there again", async () => {
  const dir = useDir();
  const { store } = openStore(dir);
  rmSync(join(dir, "lock"));
  put(store, a, "1");
  await store.flush();
  expect([stateOf(store), readFileSync(join(dir, "lock"), "utf8").startsWith(`${process.pid} `)]).toEqual([[`${a}=1`], true]);
});
