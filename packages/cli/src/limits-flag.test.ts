import { defaultServerLimits } from "@xdstp/server";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { limitsFlag } from "./limits-flag.ts";
import { parseCall } from "./parse-call.ts";
import { serveCommand } from "./serve-command.ts";

const limitsOf = (...values: readonly string[]): object => limitsFlag(parseCall(serveCommand, values.flatMap((value) => ["--limit", value])));

describe("limitsFlag()", () => {
  it("sets limits of the wire, of streams, of the beginning and of single calls", () => {
    expect(limitsOf("messageMs=60000", "subscriptions=20000", "firstSyncs=5", "fetchAnswers=1")).toEqual({ messageMs: 60_000, subscriptions: 20_000, firstSyncs: 5, fetchAnswers: 1 });
    expect(limitsOf()).toEqual({});
  });

  it.each([
    ["messageMs", '--limit "messageMs": give NAME=NUMBER, such as messageMs=60000'],
    ["messageMs=1s", '--limit "messageMs=1s": give NAME=NUMBER, such as messageMs=60000'],
    ["messageMs=0", "--limit messageMs=0: give a number from 1 to 2147483647"],
    ["messageMs=2147483648", "--limit messageMs=2147483648: give a number from 1 to 2147483647"],
    ["toString=1", "--limit toString: there is no such limit; the limits are "],
  ])("refuses %s with the reason", (value, text) => {
    expect(() => limitsOf(value)).toThrow(text);
  });

  it("takes every limit that the README lists with its default, and the README lists every limit", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const rows = [...readme.matchAll(/^\| `([A-Za-z]+)` \| (never|[\d,]+) \| /gm)].map(([, name = "", value = ""]) => [name, value === "never" ? Infinity : Number(value.replaceAll(",", ""))] as const);
    expect(Object.fromEntries(rows)).toEqual(defaultServerLimits);
  });
});
