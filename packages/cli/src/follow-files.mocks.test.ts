import { createFakeClock } from "@xdstp/testing";
import { expect, it, vi } from "vitest";
import { followFiles } from "./follow-files.ts";

const watched = vi.hoisted(() => ({ changed: (): void => undefined }));
vi.mock("node:fs", () => ({
  watch: (_: string, listener: () => void) => {
    watched.changed = listener;
    return { on: () => undefined, close: () => undefined };
  },
}));

/** Waits until everything that follows from earlier events has happened. */
const turn = async (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

it("reads again after a change that comes while it reads", async () => {
  const clock = createFakeClock();
  const reads: ((contents: string) => void)[] = [];
  const changes: (string | undefined)[] = [];
  let inUse = "a";
  const follower = followFiles({
    files: ["dir/file"],
    read: async () =>
      new Promise<string>((resolve) => {
        reads.push(resolve);
      }),
    fingerprint: (contents) => contents,
    first: inUse,
    clock,
    apply: (contents) => {
      inUse = contents;
    },
    onChange: (problem) => {
      changes.push(problem?.text);
    },
  });
  clock.advance(100);
  expect(reads.length).toBe(1);
  watched.changed();
  reads[0]?.("a");
  await turn();
  clock.advance(100);
  expect(reads.length).toBe(2);
  reads[1]?.("b");
  await turn();
  expect(inUse).toBe("b");
  expect(changes).toEqual([undefined]);
  follower.close();
});
