import { describe, expect, test } from "vitest";
import { clusterTemplate } from "./clusters.ts";
import { readCopies } from "./template.ts";

describe("readCopies()", () => {
  test("tells which resource has which stamp, in a message of several", () => {
    const template = clusterTemplate();
    const seen: (readonly [index: number, stamp: number])[] = [];
    readCopies(
      Buffer.concat([template.fill(7, 1234567890), Buffer.from("between"), template.fill(99, 3)]),
      (index, stamp) => {
        seen.push([index, stamp]);
      },
    );
    expect(seen).toEqual([
      [7, 1234567890],
      [99, 3],
    ]);
  });
});
