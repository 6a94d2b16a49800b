import { describe, expect, it } from "vitest";
import { limitHint, streamLimits } from "./stream-limits.ts";

const MiB = 1 << 20;
const usual = { heldVersions: 200_000, maxMessageBytes: 4 * MiB, maxFirstMessageBytes: 32 * MiB, maxPartialBytes: 64 * MiB };

describe("streamLimits()", () => {
  it("takes what belongs to so many names, and no less of a request than usual", () => {
    expect(streamLimits(10_000)).toEqual({ subscriptions: 10_000, globs: 1_000, ...usual });
    expect(streamLimits(5)).toEqual({ subscriptions: 5, globs: 1, ...usual });
    expect(streamLimits(30_000)).toEqual({ subscriptions: 30_000, globs: 3_000, heldVersions: 600_000, maxMessageBytes: 12 * MiB, maxFirstMessageBytes: 96 * MiB, maxPartialBytes: 192 * MiB });
    expect(streamLimits(999_999_999)).toMatchObject({ subscriptions: 999_999_999, heldVersions: 0x7fff_ffff, maxMessageBytes: 0x7fff_ffff });
  });
});

describe("limitHint()", () => {
  it.each([
    ["more than 10000 subscriptions of one type", "; xdstp serve and xdstp relay take more with --stream-names"],
    ["more than 1000 globs of one type", "; xdstp serve and xdstp relay take more with --stream-names"],
    ["more than 200000 initial_resource_versions", "; xdstp serve and xdstp relay take more with --stream-names"],
    ["more than 64 types on one stream", ""],
    ["", ""],
  ])("says of %j %j", (message, hint) => {
    expect(limitHint(message)).toBe(hint);
  });
});
