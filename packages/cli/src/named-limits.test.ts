import { defaultServerLimits } from "@xdstp/server";
import { describe, expect, it } from "vitest";
import { defaultNamedLimits, groupLimits, limitHint, streamLimits } from "./named-limits.ts";

it("puts each limit into its group, and no limit has the name of another", () => {
  expect(groupLimits({ subscriptions: 5, pingMs: 6 })).toEqual({
    stream: { subscriptions: 5 },
    admission: {},
    access: {},
    answers: {},
    wire: { pingMs: 6 },
  });
  expect(groupLimits(defaultNamedLimits)).toEqual(defaultServerLimits);
});

const MiB = 1 << 20;
const usual = {
  streamSubscriptions: 200_000,
  streamNameLength: 64 * MiB,
  heldVersions: 200_000,
  maxMessageBytes: 16 * MiB,
  maxFirstMessageBytes: 32 * MiB,
  maxPartialBytes: 64 * MiB,
};

describe("streamLimits()", () => {
  it("takes what belongs to so many names, and no less of a request than usual", () => {
    expect(streamLimits(100_000)).toEqual({ subscriptions: 100_000, globs: 10_000, ...usual });
    expect(streamLimits(5)).toEqual({ subscriptions: 5, globs: 1, ...usual });
    expect(streamLimits(300_000)).toEqual({
      subscriptions: 300_000,
      streamSubscriptions: 600_000,
      streamNameLength: 192 * MiB,
      globs: 30_000,
      heldVersions: 600_000,
      maxMessageBytes: 48 * MiB,
      maxFirstMessageBytes: 96 * MiB,
      maxPartialBytes: 192 * MiB,
    });
    expect(streamLimits(999_999_999)).toMatchObject({
      subscriptions: 999_999_999,
      maxMessageBytes: 0x7fff_ffff,
    });
  });
});

describe("limitHint()", () => {
  it.each([
    [
      "more than 10000 subscriptions of one type",
      "; xdstp serve and xdstp relay take more with --stream-names",
    ],
    [
      "more than 200000 subscriptions of all types",
      "; xdstp serve and xdstp relay take more with --stream-names",
    ],
    [
      "the headers of the call are too large: 17000 bytes, at most 16384; the limit of the server is headerListBytes",
      "; xdstp serve and xdstp relay accept larger headers with --limit headerListBytes=NUMBER",
    ],
    [
      "the names of all subscriptions are longer than 5 characters",
      "; xdstp serve and xdstp relay take more with --stream-names",
    ],
    [
      "more than 1000 globs of one type",
      "; xdstp serve and xdstp relay take more with --stream-names",
    ],
    [
      "more than 200000 initial_resource_versions",
      "; xdstp serve and xdstp relay take more with --stream-names",
    ],
    ["more than 64 types on one stream", ""],
    ["", ""],
  ])("says of %j %j", (message, hint) => {
    expect(limitHint(message)).toBe(hint);
  });
});
