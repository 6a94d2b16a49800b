import { describe, expect, it } from "vitest";
import { locatorFault, parseLocator } from "./index.ts";

const fault = (text: string) => {
  const parsed = parseLocator(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return locatorFault("t.Flag", parsed.value)?.text;
};

describe("locatorFault()", () => {
  it("accepts the type itself, an entry of a list of it, and alternatives of both [C-REDIR-5] [C-LIST-7]", () => {
    expect(fault("xdstp://a/t.Flag/x")).toBeUndefined();
    expect(fault("http://a/t.Flag/x")).toBeUndefined();
    expect(fault("file:///x")).toBeUndefined();
    expect(fault("xdstp://a/t.FlagCollection/x#entry=y")).toBeUndefined();
    expect(fault("xdstp://a/t.Flag/x#alt=xdstp://b/t.FlagCollection/x%23entry=y")).toBeUndefined();
  });
  it("rejects another type, also in an alternative [C-REDIR-5] [C-ALT-7]", () => {
    expect(fault("xdstp://a/t.Other/x")).toBe(
      "xdstp://a/t.Other/x has the type t.Other; it has to be t.Flag",
    );
    expect(fault("xdstp://a/t.Flag/x#entry=y")).toBe(
      "xdstp://a/t.Flag/x#entry=y has the type t.Flag; it has to be t.FlagCollection",
    );
    expect(fault("xdstp://a/t.Flag/x#alt=xdstp://b/t.Other/x")).toBe(
      "its alternative xdstp://b/t.Other/x has the type t.Other; it has to be t.Flag",
    );
  });
  it("rejects an entry of a glob, and an alternative of the other kind [C-ALT-7]", () => {
    expect(fault("xdstp://a/t.FlagCollection/*#entry=y")).toContain("is a glob, which has no");
    expect(fault("xdstp://a/t.Flag/x#alt=xdstp://b/t.Flag/*")).toBe(
      "its alternative xdstp://b/t.Flag/* is a glob",
    );
    expect(fault("xdstp://a/t.Flag/*#alt=xdstp://b/t.Flag/x")).toBe(
      "its alternative xdstp://b/t.Flag/x is not a glob",
    );
  });
});
