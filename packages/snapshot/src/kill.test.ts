import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createSeededRandom } from "@xdstp/testing";
import { expect, it, onTestFinished } from "vitest";

import { openStore, useDir } from "../test/snapshots.ts";

const program = fileURLToPath(new URL("../test/write-until-killed.ts", import.meta.url));
const names = 40;

interface Writer {
  readonly child: ChildProcess;
  readonly lines: () => readonly string[];
  readonly errors: () => string;
}

/** Starts a process that writes. Returns it with the lines that it has printed so far. */
function startWriter(dir: string, first: number): Writer {
  const child = spawn(
    process.execPath,
    ["--conditions=@xdstp/source", program, dir, `${names}`, `${first}`],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let [text, errors] = ["", ""];
  child.stderr.on("data", (bytes: Buffer) => {
    errors += bytes.toString();
  });
  child.stdout.on("data", (bytes: Buffer) => {
    text += bytes.toString();
  });
  // The text after the last line break is not a complete line.
  return { child, lines: () => text.split("\n").slice(0, -1), errors: () => errors };
}

/** Returns the number of the state that each name has on disk. */
async function statesIn(dir: string): Promise<readonly number[]> {
  const { store, events } = openStore(dir);
  expect(events.map(({ kind }) => kind)).toEqual(["snapshot-opened"]);
  const read = store.read([...store.index]);
  await store.close();
  return read.map(({ resource }) => parseInt(Buffer.from(resource.payload.value).toString(), 10));
}

/**
 * A killed process loses nothing that the system has accepted, so a file system in memory is
 * enough. On a slow disk 1,000 kills took half an hour.
 */
const memory = existsSync("/dev/shm") ? "/dev/shm" : undefined;

/** 1,000 kills with XDSTP_SCALE=1; a hundredth of that by default. */
const kills = Math.ceil(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01"));

it("after kill -9 at any time what was reported as stored is there, a batch wholly or not at all, and the folder is open to the next relay at once [B-RELAY-9]", async () => {
  const random = createSeededRandom(Number(process.env.XDSTP_SEED ?? "1"));
  let dir = useDir(memory);
  let stored = 0;
  for (let kill = 0; kill < kills; kill++) {
    // A new folder from time to time, since its creation can be interrupted too.
    if (random.below(10) === 0) [dir, stored] = [useDir(memory), 0];
    const { child, lines } = startWriter(dir, stored + 1);
    const exit = once(child, "exit");
    const after = random.below(12);
    while (lines().length < after) await once(child.stdout ?? child, "data");
    for (let turns = random.below(2_000); turns > 0; turns--)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    child.kill("SIGKILL");
    await exit;
    const printed = lines();
    const reported = printed.filter((line) => /^\d+$/.test(line)).map(Number);
    expect([kill, printed.filter((line) => line.startsWith("snapshot"))]).toEqual([kill, []]);
    const least = reported.at(-1) ?? stored;
    const states = await statesIn(dir);
    const [state = 0] = states;
    // One more state may be stored whose report was not printed.
    expect([kill, least <= state && state <= least + 1]).toEqual([kill, true]);
    expect([kill, states]).toEqual([kill, state === 0 ? [] : Array(names).fill(state)]);
    stored = state;
  }
});

it("a second relay on a folder does not start, and says which process has it, until that one is killed", async () => {
  const dir = useDir();
  const { child, lines, errors } = startWriter(dir, 1);
  while (!lines().includes("1")) await once(child.stdout ?? child, "data");
  expect(() => openStore(dir)).toThrow(
    `the snapshot ${dir} is in use by process ${child.pid}; give each process a directory of its own, or end that process`,
  );
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  expect(await statesIn(dir)).toHaveLength(names);
  // Node 22 would print that SQLite is experimental.
  expect(errors()).not.toMatch(/sqlite/i);
});
