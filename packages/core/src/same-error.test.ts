import { describe, expect, it } from "vitest";

import { isLate, isSameError, XdsError } from "./xds-error.ts";

describe("isSameError()", () => {
  const own = new XdsError("NOT_FOUND", "there is none");
  const said = new XdsError("NOT_FOUND", "the server says: there is none", {
    said: "there is none",
  });

  it("goes by what readers are told, whoever has said it [S-ERR-1]", () => {
    expect(isSameError(own, said)).toBe(true);
    expect(
      isSameError(said, new XdsError("NOT_FOUND", "the server says: no", { said: "no" })),
    ).toBe(false);
    expect(isSameError(own, new XdsError("UNAVAILABLE", "there is none"))).toBe(false);
  });

  it("knows that there is none", () => {
    expect(isSameError(undefined, undefined)).toBe(true);
    expect(isSameError(own, undefined)).toBe(false);
  });
});

describe("isLate()", () => {
  it("covers what has not come in time, and nothing that a server reported [C-MISS-4]", () => {
    const late = (["late", "left-out", "missing", undefined] as const).map((reason) =>
      isLate(new XdsError("NOT_FOUND", "x", { reason })),
    );
    expect(late).toEqual([true, true, false, false]);
  });
});
