import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { diskOf } from "../test/direct-disk.ts";
import { flagName } from "../../rollout/test/flag.ts";
import { openStore, stateOf, store as put, useDir, type OpenStore } from "../test/snapshots.ts";
import { DatabaseWriter } from "./database-writer.ts";
import { openToWrite } from "./database.ts";
import { threadDisk, type OpenDisk } from "./snapshot-disk.ts";

const [a, b, c] = ["ns/a", "ns/b", "ns/c"].map(flagName) as [string, string, string];
const large = "x".repeat(300_000);

/** Opens a store that writes in a thread, as in a relay. */
function openThread(dir: string): OpenStore & { readonly kinds: () => readonly string[] } {
  const opened = openStore(dir, {}, threadDisk);
  return { ...opened, kinds: () => opened.events.map(({ kind }) => kind) };
}

const hasTmpfs = ((): boolean => {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", dir], { stdio: "ignore" });
    execFileSync("umount", [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
})();

/** A directory with little room. Not every machine lets a test mount one. */
function useTmpfs(): { readonly dir: string; readonly remount: (options: string) => void } {
  const dir = useDir();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k,mode=0700", "tmpfs", dir]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", dir]);
  });
  return {
    dir,
    remount: (options) => {
      execFileSync("mount", ["-o", `remount,${options}`, dir]);
    },
  };
}

it("a database that may not grow is full: all before it stays, nothing is in it by half, and all is stored when it may [B-RELAY-9]", async () => {
  const dir = useDir();
  let pages = 20;
  const disk: OpenDisk = (...place) => {
    const writer = new DatabaseWriter(...place, (path) => {
      const database = openToWrite(path);
      database.exec(`PRAGMA max_page_count = ${pages}`);
      return database;
    });
    return diskOf(writer);
  };
  const { store, events } = openStore(dir, {}, disk);
  put(store, a, "1");
  await store.flush();
  for (const [name, text] of [
    [a, "2"],
    [b, large],
  ] as const)
    put(store, name, text);
  await store.flush();
  expect([events.at(-1)?.kind, store.status().trouble, store.status().waiting]).toEqual([
    "snapshot-trouble",
    "database or disk is full",
    2,
  ]);
  const copy = useDir();
  for (const file of ["snapshot.db", "snapshot.db-wal"]) cpSync(join(dir, file), join(copy, file));
  expect(stateOf(openStore(copy).store)).toEqual([`${a}=1`]);
  pages = 1_000_000;
  await store.flush();
  await store.close();
  expect([events.at(-1)?.kind, stateOf(openStore(dir).store)]).toEqual([
    "snapshot-well",
    [`${a}=2`, `${b}=${large}`],
  ]);
});

it.runIf(hasTmpfs)(
  "on a full disk the relay goes on, says so with the way out, and stores all when there is room [B-RELAY-9]",
  async () => {
    const { dir, remount } = useTmpfs();
    const { store, kinds, events } = openThread(dir);
    put(store, a, "1");
    await store.flush();
    for (const name of [b, c]) put(store, name, large);
    await store.flush();
    expect([kinds(), stateOf(store)]).toEqual([
      ["snapshot-opened", "snapshot-trouble"],
      [`${a}=1`, `${b}=${large}`, `${c}=${large}`],
    ]);
    expect(events[1]).toMatchObject({
      message: `${join(dir, "snapshot.db")} cannot be written: database or disk is full; the relay goes on, and what upstream sends from now on would be lost by a restart; make room for it, or let this process write there`,
    });
    remount("size=8m");
    await store.flush();
    expect(kinds().at(-1)).toBe("snapshot-well");
    await store.close();
    expect(stateOf(openStore(dir).store)).toEqual([`${a}=1`, `${b}=${large}`, `${c}=${large}`]);
  },
);

it.runIf(hasTmpfs)(
  "a disk that is full from the beginning does not keep the relay from starting [B-RELAY-9]",
  async () => {
    const { dir, remount } = useTmpfs();
    try {
      writeFileSync(join(dir, "other"), large + large);
    } catch {
      // The disk is full now.
    }
    const { store, kinds } = openThread(dir);
    put(store, a, "1");
    await store.flush();
    expect(kinds()).toEqual(["snapshot-opened", "snapshot-trouble"]);
    remount("size=8m");
    await store.flush();
    expect(kinds().at(-1)).toBe("snapshot-well");
    await store.close();
    expect(stateOf(openStore(dir).store)).toEqual([`${a}=1`]);
  },
);

it.runIf(hasTmpfs)(
  "in a folder that is read-only the relay serves what is there, says that it cannot write, and stores again when it can [B-RELAY-9]",
  async () => {
    const { dir, remount } = useTmpfs();
    const first = openStore(dir).store;
    put(first, a, "1");
    await first.close();
    remount("ro");
    const { store, kinds } = openThread(dir);
    expect(stateOf(store)).toEqual([`${a}=1`]);
    put(store, b, "1");
    await store.flush();
    expect([kinds(), stateOf(store)]).toEqual([
      ["snapshot-opened", "snapshot-trouble"],
      [`${a}=1`, `${b}=1`],
    ]);
    remount("rw");
    await store.flush();
    expect([kinds().at(-1), stateOf(store)]).toEqual(["snapshot-well", [`${a}=1`, `${b}=1`]]);
    await store.close();
    expect(stateOf(openStore(dir).store)).toEqual([`${a}=1`, `${b}=1`]);
  },
);

it.runIf(hasTmpfs)(
  "what a relay had stored when it was killed is served from a folder that is read-only since [B-RELAY-9]",
  async () => {
    const { dir, remount } = useTmpfs();
    const killed = useDir();
    const first = openStore(killed).store;
    put(first, a, "1");
    await first.flush();
    cpSync(killed, dir, { recursive: true });
    remount("ro");
    const { store, kinds } = openThread(dir);
    expect([kinds(), stateOf(store)]).toEqual([["snapshot-opened"], [`${a}=1`]]);
  },
);

it("a folder that is removed is made again, and has all of it: what was written before, and what waits", async () => {
  const dir = join(useDir(), "made");
  const { store, kinds, events } = openThread(dir);
  put(store, a, "1", { expireMs: 5_000 });
  await store.flush();
  rmSync(dir, { recursive: true });
  put(store, b, "1");
  await store.flush();
  expect([kinds(), stateOf(store)]).toEqual([
    ["snapshot-opened", "snapshot-trouble", "snapshot-well"],
    [`${a}=1`, `${b}=1`],
  ]);
  expect(events[1]).toMatchObject({
    message: expect.stringContaining(
      "snapshot.db does not exist any more; the relay goes on",
    ) as string,
  });
  await store.close();
  const again = openStore(dir).store;
  expect([stateOf(again), Array.from(again.index, ({ expiresAt }) => expiresAt)]).toEqual([
    [`${a}=1`, `${b}=1`],
    [1_005_000, undefined],
  ]);
});

it("a folder that is another one later, as when a volume is mounted late, gets all, and what was in it is set aside", async () => {
  const parent = useDir();
  const [dir, away] = [join(parent, "dir"), join(parent, "away")];
  const old = openStore(dir).store;
  put(old, c, "old");
  await old.close();
  renameSync(dir, away);
  mkdirSync(dir, { mode: 0o700 });
  const { store, kinds } = openThread(dir);
  put(store, a, "1");
  await store.flush();
  rmSync(dir, { recursive: true });
  renameSync(away, dir);
  put(store, b, "1");
  await store.flush();
  expect(kinds()).toEqual([
    "snapshot-opened",
    "snapshot-trouble",
    "snapshot-set-aside",
    "snapshot-well",
  ]);
  // It has the lock of the folder that exists now.
  expect(() => openStore(dir)).toThrow(`is in use by process ${process.pid}`);
  await store.close();
  expect(stateOf(openStore(dir).store)).toEqual([`${a}=1`, `${b}=1`]);
  const [aside = ""] = readdirSync(dir).filter((file) => file.startsWith("snapshot.db.replaced-"));
  const copy = useDir();
  cpSync(join(dir, aside), join(copy, "snapshot.db"));
  expect(stateOf(openStore(copy).store)).toEqual([`${c}=old`]);
});
