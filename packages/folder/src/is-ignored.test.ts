import { describe, expect, it } from "vitest";
import { isIgnored } from "./walk-folder.ts";

describe("isIgnored()", () => {
  for (const name of [
    ".x.yaml",
    "..data",
    ".#x.yaml",
    ".x.yaml.swp",
    "x.yaml~",
    "#x.yaml#",
    "x.yaml.swp",
    "x.yaml.tmp",
    "x.yaml.bak",
    "x.yaml___jb_tmp___",
    "4913",
    "lost+found",
  ]) {
    it(`leaves out ${name}`, () => {
      expect(isIgnored(name)).toBe(true);
    });
  }
  for (const name of ["x.yaml", "x~y.yaml", "#x.yaml", "tmp", "x.tmp.yaml", "49133", "_opaque"]) {
    it(`reads ${name}`, () => {
      expect(isIgnored(name)).toBe(false);
    });
  }
});
