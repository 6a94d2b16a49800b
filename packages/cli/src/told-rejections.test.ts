import type { RejectedVersion } from "@xdstp/relay";
import { describe, expect, it } from "vitest";
import { mergeRejections } from "./told-rejections.ts";

const one: RejectedVersion = {
  typeUrl: "t",
  name: "a",
  version: "1",
  clients: 2,
  by: ["e1", "e2"],
  among: 2,
  reason: "first",
  since: 5,
};

describe("mergeRejections()", () => {
  it("joins what several processes have counted of one version, a client once as far as it is named, newest first [B-RELAY-5]", () => {
    const other = { ...one, clients: 10, by: ["e2", "e3"], among: 1, reason: "second", since: 7 };
    const next = { ...one, version: "2", since: 9 };
    expect(mergeRejections([[one], [next, other]])).toEqual([
      next,
      { ...one, clients: 11, by: ["e1", "e2", "e3"], among: 1 },
    ]);
    expect(mergeRejections([])).toEqual([]);
  });
});
