import { describe, expect, it } from "vitest";
import { withoutParameters } from "./type-index.ts";

describe("withoutParameters()", () => {
  it.each([
    ["xdstp://a/t/x?a=1&b=2", "xdstp://a/t/x?b=2"],
    ["xdstp://a/t/x?a=1", "xdstp://a/t/x"],
    ["xdstp://a/t/x?b=2", "xdstp://a/t/x?b=2"],
    ["xdstp://a/t/x", "xdstp://a/t/x"],
    ["xdstp://a/t/x/*?a=1", "xdstp://a/t/x/*?a=1"],
    ["opaque?a=1", "opaque?a=1"],
    ["xdstp://no name?a=1", "xdstp://no name?a=1"],
  ])("%s becomes %s [S-CTX-4]", (name, expected) => {
    expect(withoutParameters(name, ["a"])).toBe(expected);
  });
});
