import { readdirSync } from "node:fs";
import { open, rename } from "node:fs/promises";

import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { flagName } from "../../test/flag.ts";
import { openStore, stateOf, store as put, useDir } from "../../test/snapshots.ts";
import type { Disk } from "./journal.ts";
import type { SnapshotEvent } from "./snapshot-event.ts";
import { SnapshotStore } from "./snapshot-store.ts";

const [a, b] = ["ns/a", "ns/b"].map(flagName) as [string, string];
const full = (): Error => new Error("ENOSPC: no space left on device");

/** A store whose files are opened, and written to, as the test says. */
function openOn(
  dir: string,
  {
    opens = async () => Promise.resolve(),
    writes = async () => Promise.resolve(),
  }: { readonly opens?: (path: string) => Promise<void>; readonly writes?: () => Promise<void> },
) {
  const clock = createFakeClock({ start: 0 });
  const events: SnapshotEvent[] = [];
  const disk: Disk = {
    rename,
    open: async (...args: Parameters<typeof open>) => {
      await opens(args[0] as string);
      const file = await open(...args);
      const write = file.write.bind(file) as (...all: unknown[]) => ReturnType<typeof file.write>;
      file.write = async (...all: unknown[]) => {
        await writes();
        return write(...all);
      };
      return file;
    },
  };
  const store = new SnapshotStore(
    {
      dir,
      clock,
      onEvent: (event) => {
        events.push(event);
      },
    },
    disk,
  );
  onTestFinished(() => store.close());
  return { store, clock, events };
}

/** Makes the file so large that it is to be written again. */
async function bloat(store: SnapshotStore): Promise<void> {
  for (let round = 0; round < 6; round++) {
    put(store, a, `${"x".repeat(1 << 20)}${round}`);
    await store.flush();
  }
}

it("what is said while the first writing after a trouble goes on is written within a second too [B-RELAY-9]", async () => {
  let [isFull, isWriting] = [true, false];
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { store, clock, events } = openOn(useDir(), {
    writes: async () => {
      if (isFull) throw full();
      isWriting = true;
      await held;
    },
  });
  put(store, a, "1");
  await store.flush();
  isFull = false;
  clock.advance(2_000);
  await expect.poll(() => isWriting).toBe(true);
  put(store, b, "1");
  go();
  await expect
    .poll(() => [events.at(-1)?.kind, store.status().waiting])
    .toEqual(["snapshot-well", 1]);
  clock.advance(200);
  await expect.poll(() => store.status().waiting).toBe(0);
});

it("where there is no room for a second file, changes are written to the first one within a second, and it is made smaller when there is [B-RELAY-9]", async () => {
  let isFull = true;
  const dir = useDir();
  const { store, clock, events } = openOn(dir, {
    opens: async (path) =>
      isFull && path.endsWith(".new") ? Promise.reject(full()) : Promise.resolve(),
  });
  await bloat(store);
  expect(
    events.flatMap((event) =>
      event.kind === "snapshot-trouble" ? event.message.replace(dir, "DIR") : [],
    ),
  ).toEqual([
    "DIR/snapshot.journal cannot be made smaller: ENOSPC: no space left on device; changes are written to it all the same, and it grows; make room for a second file",
  ]);
  for (let round = 0; round < 5; round++) {
    put(store, b, `${round}`);
    clock.advance(200);
    await expect.poll(() => store.status().waiting).toBe(0);
  }
  const { fileBytes } = store.status();
  isFull = false;
  clock.advance(60_000);
  await expect
    .poll(() => [
      events.at(-1)?.kind,
      store.status().fileBytes < fileBytes / 2,
      store.status().trouble,
    ])
    .toEqual(["snapshot-well", true, undefined]);
});

it("what was written anew counts, also where its directory cannot be synced [B-RELAY-9]", async () => {
  const dir = useDir();
  const { store, events } = openOn(dir, {
    opens: async (path) =>
      path === dir ? Promise.reject(new Error("EMFILE: too many open files")) : Promise.resolve(),
  });
  await bloat(store);
  put(store, a, "small");
  put(store, b, "1");
  await store.flush();
  expect([stateOf(store), events.map(({ kind }) => kind)]).toEqual([
    [`${a}=small`, `${b}=1`],
    ["snapshot-opened"],
  ]);
  await store.close();
  expect(stateOf(openStore(dir).store)).toEqual([`${a}=small`, `${b}=1`]);
});

it("where the room runs out while the second file is written, the first one is whole and stays in use [B-RELAY-9]", async () => {
  let [isNew, isFull] = [false, true];
  const dir = useDir();
  const { store, clock, events } = openOn(dir, {
    opens: async (path) => {
      isNew = path.endsWith(".new");
      return Promise.resolve();
    },
    writes: async () => (isNew && isFull ? Promise.reject(full()) : Promise.resolve()),
  });
  await bloat(store);
  expect(events.map(({ kind }) => kind)).toEqual(["snapshot-opened", "snapshot-trouble"]);
  expect(readdirSync(dir).sort()).toEqual(["lock", "snapshot.journal"]);
  isFull = false;
  clock.advance(60_000);
  await expect.poll(() => events.at(-1)?.kind).toBe("snapshot-well");
  put(store, b, "1");
  await store.close();
  expect(stateOf(openStore(dir).store)).toEqual([`${a}=${"x".repeat(1 << 20)}5`, `${b}=1`]);
});

it("on a file system that is read-only the relay serves what is there, and says that nothing can be written [B-RELAY-9]", async () => {
  const dir = useDir();
  const first = openStore(dir).store;
  put(first, a, "1");
  await first.close();
  const { store, events } = openOn(dir, {
    opens: async () =>
      Promise.reject(Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" })),
  });
  put(store, b, "1");
  await store.flush();
  expect([stateOf(store), store.status().waiting, events.map(({ kind }) => kind)]).toEqual([
    [`${a}=1`, `${b}=1`],
    1,
    ["snapshot-opened", "snapshot-trouble"],
  ]);
});
