import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { checkLimits, type GivenLimits } from "./server-limits.ts";

describe("checkLimits()", () => {
  it("returns the given limits of each group, without those that are undefined", () => {
    const none = { stream: {}, admission: {}, access: {}, answers: {}, wire: {} };
    expect(checkLimits()).toEqual(none);
    const given: GivenLimits = {
      stream: { types: 7 },
      admission: { firstSyncs: 8 },
      access: { authorizeMs: 5 },
      answers: { fetchAnswers: 6 },
      wire: { maxStreams: 9 },
    };
    expect(checkLimits(given)).toEqual(given);
    expect(checkLimits({ stream: { types: undefined } } as unknown as GivenLimits)).toEqual(none);
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, "7"])("names a limit that is %s", (value) => {
    expect(() => checkLimits({ stream: { settleMs: value as number } })).toThrow(
      new XdsError(
        "INVALID_ARGUMENT",
        `limits.stream.settleMs is ${value}; give a whole number from 1 to 2147483647`,
      ),
    );
  });

  it("names a limit that does not exist, and those that do", () => {
    const unknown = { wire: { toString: 1 } } as unknown as GivenLimits;
    expect(() => checkLimits(unknown)).toThrow(
      /limits.wire.toString does not exist; the limits are .*maxConnections, /,
    );
  });

  it("names the groups where one does not exist, and the group of a limit without one", () => {
    expect(() => checkLimits({ streams: {} } as unknown as GivenLimits)).toThrow(
      "limits.streams does not exist; the groups of limits are stream, admission, access, answers, wire",
    );
    expect(() => checkLimits({ maxStreams: 5 } as unknown as GivenLimits)).toThrow(
      "limits.maxStreams is limits.wire.maxStreams: limits are in groups",
    );
  });
});
