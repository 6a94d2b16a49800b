import { describe, expect, it } from "vitest";
import { closest } from "./closest.ts";

describe("closest()", () => {
  it("finds the word with one letter left out", () => {
    expect(closest("conect_timeout", ["name", "connect_timeout", "type"])).toBe("connect_timeout");
  });
  it("takes the closer one of two", () => {
    expect(closest("cluster", ["clusterss", "clusters"])).toBe("clusters");
  });
  it("finds nothing where every word is far", () => {
    expect(closest("abc", ["xyz", "abcdefgh"])).toBeUndefined();
  });
  it("finds nothing for an empty word", () => {
    expect(closest("", ["ab"])).toBeUndefined();
  });
});
