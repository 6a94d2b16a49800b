import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { splitLimits, type ServerLimits } from "./server-limits.ts";

describe("splitLimits()", () => {
  it("gives streams, their beginning and the wire each their own", () => {
    expect(splitLimits()).toEqual({ stream: {}, admission: {}, access: {}, answers: {}, wire: {} });
    expect(
      splitLimits({ types: 7, firstSyncs: 8, authorizeMs: 5, fetchAnswers: 6, maxStreams: 9 }),
    ).toEqual({
      stream: { types: 7 },
      admission: { firstSyncs: 8 },
      access: { authorizeMs: 5 },
      answers: { fetchAnswers: 6 },
      wire: { maxStreams: 9 },
    });
    expect(splitLimits({ types: undefined } as unknown as Partial<ServerLimits>)).toEqual({
      stream: {},
      admission: {},
      access: {},
      answers: {},
      wire: {},
    });
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, "7"])("names a limit that is %s", (value) => {
    expect(() => splitLimits({ settleMs: value as number })).toThrow(
      new XdsError(
        "INVALID_ARGUMENT",
        `limits.settleMs is ${value}; give a whole number from 1 to 2147483647`,
      ),
    );
  });

  it("names a limit that does not exist, and those that do", () => {
    expect(() => splitLimits({ toString: 1 } as unknown as Partial<ServerLimits>)).toThrow(
      /limits.toString does not exist; the limits are responseBytes, .*, maxConnections, /,
    );
  });
});
