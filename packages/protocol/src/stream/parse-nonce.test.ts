import { describe, expect, it } from "vitest";
import { parseNonce } from "./parse-nonce.ts";

describe("parseNonce()", () => {
  it.each([
    ["1", 1],
    ["42", 42],
    ["999999999999999", 999999999999999],
  ])("reads %s", (text, nonce) => {
    expect(parseNonce(text)).toBe(nonce);
  });

  it.each([
    "",
    "0",
    "07",
    "-1",
    "+1",
    "1.0",
    "1e3",
    " 1",
    "1 ",
    "1\n",
    "0x1",
    "x",
    "1000000000000000",
    "\u0661",
  ])("never sent %j", (text) => {
    expect(parseNonce(text)).toBe(-1);
  });
});
