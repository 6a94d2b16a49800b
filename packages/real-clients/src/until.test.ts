import { describe, expect, it } from "vitest";
import { until } from "./until.ts";

describe("until()", () => {
  it("asks again after undefined, false and an error", async () => {
    const answers = [
      () => undefined,
      () => false as const,
      () => {
        throw new Error("not yet");
      },
      () => 7,
    ];
    await expect(until("seven", () => answers.shift()?.())).resolves.toBe(7);
  });

  it("says what did not come, and what was seen instead", async () => {
    await expect(
      until(
        "x",
        () => undefined,
        () => ["a"],
        -1,
      ),
    ).rejects.toThrow('x: not within -0.001 s; last seen: ["a"]');
    await expect(
      until(
        "x",
        () => {
          throw new Error("gone");
        },
        undefined,
        -1,
      ),
    ).rejects.toThrow("Error: gone");
  });
});
