import type { Entry } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { byName } from "./by-name.ts";

const removal = (revision: number, constraints?: Uint8Array): Entry => ({
  name: "n",
  revision,
  since: 1,
  superseded: false,
  ...(constraints && { constraints }),
});
const present = (revision: number): Entry => ({
  ...removal(revision),
  resource: {} as NonNullable<Entry["resource"]>,
});

describe("byName()", () => {
  it("finds what is there of a name, wherever what it takes the place of is [S-DYN-5]", () => {
    const now = present(3);
    for (const entries of [
      [now, removal(3), removal(3, Uint8Array.of(1))],
      [removal(2, Uint8Array.of(1)), now, removal(4)],
      [removal(3), now],
    ])
      expect(byName(entries).get("n")).toBe(now);
  });

  it("finds the newest removal of a name that is not there [S-DYN-5]", () => {
    const newest = removal(5, Uint8Array.of(1));
    for (const entries of [
      [removal(3), newest],
      [newest, removal(3)],
    ])
      expect(byName(entries).get("n")).toBe(newest);
  });
});
