import { describe, expect, it } from "vitest";

import { fingerprintOf } from "./fingerprint.ts";

describe("fingerprintOf()", () => {
  it("is the same for one seed whatever ran before in the process, and another for another seed", async () => {
    const first = await fingerprintOf(5, 3_000);
    expect(first.frames).toBeGreaterThan(50);
    expect((await fingerprintOf(6, 3_000)).hash).not.toBe(first.hash);
    expect(await fingerprintOf(5, 3_000)).toEqual(first);
  });
});
