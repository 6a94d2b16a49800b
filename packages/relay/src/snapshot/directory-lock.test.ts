import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Readable } from "node:stream";

import { createFakeClock } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { flagName } from "../../test/flag.ts";
import { journalOf, openStore, stateOf, store as put, useDir } from "../../test/snapshots.ts";

const [a, b] = ["ns/a", "ns/b"].map(flagName) as [string, string];

it("one process has a directory once, however its path is written", () => {
  const dir = useDir();
  const link = join(useDir(), "link");
  symlinkSync(dir, link);
  openStore(dir);
  for (const other of [link, relative(process.cwd(), dir)])
    expect(() => openStore(other)).toThrow(
      `the snapshot ${other} is in use by process ${process.pid}`,
    );
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
  expect(events.at(-1)).toMatchObject({
    kind: "snapshot-trouble",
    message: expect.stringContaining(
      `the snapshot ${dir} is in use by process ${process.pid}; give each relay a directory of its own`,
    ) as string,
  });
  await store.close();
  expect([
    readFileSync(journalOf(dir)).equals(bytes),
    readFileSync(join(dir, "lock"), "utf8"),
  ]).toEqual([true, others]);
});

it("a lock that somebody has removed is put there again", async () => {
  const dir = useDir();
  const { store } = openStore(dir);
  rmSync(join(dir, "lock"));
  put(store, a, "1");
  await store.flush();
  expect([
    stateOf(store),
    readFileSync(join(dir, "lock"), "utf8").startsWith(`${process.pid} `),
  ]).toEqual([[`${a}=1`], true]);
});

async function untilStat(pid: number | undefined, text: string): Promise<void> {
  while (!readFileSync(`/proc/${pid}/stat`, "utf8").includes(text))
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

it.runIf(process.platform === "linux")(
  "a lock of a process that was killed is taken over at once, also where nobody has waited for it, or its number is another one's by now [B-RELAY-9]",
  async () => {
    // The child ends with the third pipe, and by then its parent is a program that never asks what became of it: the child stays as a zombie.
    const parent = spawn("sh", ["-c", "cat <&3 & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    onTestFinished(() => {
      parent.kill("SIGKILL");
    });
    const [, out, , hold] = parent.stdio as unknown as readonly Readable[];
    if (out === undefined || hold === undefined) throw new Error("a pipe is missing");
    const zombie = Number(String((await once(out, "data"))[0]));
    await untilStat(parent.pid, "(sleep)");
    hold.destroy();
    await untilStat(zombie, ") Z ");
    for (const left of [`${zombie} 0 \n`, `${parent.pid} 0 12345\n`]) {
      const dir = useDir();
      writeFileSync(join(dir, "lock"), left);
      openStore(dir);
    }
    const dir = useDir();
    writeFileSync(join(dir, "lock"), `${parent.pid} 0 \n`);
    expect(() => openStore(dir)).toThrow(`the snapshot ${dir} is in use by process ${parent.pid}`);
  },
);
