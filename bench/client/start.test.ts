import { describe, expect, test } from "vitest";
import { createStart } from "./start.ts";

function startWith(resources: number): {
  readonly start: ReturnType<typeof createStart>;
  readonly told: string[];
} {
  const told: string[] = [];
  return {
    told,
    start: createStart({
      resources,
      synced: (bytes) => {
        told.push(`synced after ${bytes}`);
      },
      lost: ({ message }) => {
        told.push(message);
      },
    }),
  };
}

describe("createStart()", () => {
  test("takes responses until all resources are there, and none after", () => {
    const { start, told } = startWith(3);
    expect([1, 2, 1].map((resources) => start.takes(Buffer.alloc(10), resources))).toEqual([
      true,
      true,
      false,
    ]);
    expect(told).toEqual(["synced after 20"]);
  });

  test("waits for a sign of life where nothing is due", () => {
    const { start, told } = startWith(0);
    expect(start.takes(Buffer.alloc(10), 0)).toBe(true);
    expect(told).toEqual(["synced after 10"]);
  });

  test.each([
    [0, 1, "had 1 resources where 0 were due"],
    [3, 4, "had 4 resources where 3 were due"],
  ])("loses a client to which %i were due and %i came", (due, came, problem) => {
    const { start, told } = startWith(due);
    start.takes(Buffer.alloc(10), came);
    expect(told).toEqual([expect.stringContaining(problem)]);
  });
});
