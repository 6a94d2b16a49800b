import { defaultChannelLimits } from "@xdstp/grpc/client";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { getCommand } from "./get-command.ts";
import { channelLimits, limitsFlag, serverLimits, wireLimits } from "./limits-flag.ts";
import { defaultNamedLimits } from "./named-limits.ts";
import { parseCall } from "./command-line.ts";
import { replayCommand } from "./replay-command.ts";
import { serveCommand } from "./serve-command.ts";

const limitsOf = async (...values: readonly string[]): Promise<object> =>
  limitsFlag(
    parseCall(
      serveCommand,
      values.flatMap((value) => ["--limit", value]),
    ),
    serverLimits,
  );

const channelLimitsOf = async (...values: readonly string[]): Promise<object> =>
  limitsFlag(
    parseCall(getCommand, ["a", ...values.flatMap((value) => ["--channel-limit", value])]),
    channelLimits,
  );

describe("limitsFlag()", () => {
  it("sets limits of the wire, of streams, of the beginning and of single calls", async () => {
    expect(
      await limitsOf("messageMs=60000", "subscriptions=20000", "firstSyncs=5", "fetchAnswers=1"),
    ).toEqual({ messageMs: 60_000, subscriptions: 20_000, firstSyncs: 5, fetchAnswers: 1 });
    expect(await limitsOf()).toEqual({});
  });

  it.each([
    ["messageMs", '--limit "messageMs": give NAME=NUMBER, such as messageMs=60000'],
    ["messageMs=1s", '--limit "messageMs=1s": give NAME=NUMBER, such as messageMs=60000'],
    ["messageMs=0", "--limit messageMs=0: give a number from 1 to 2147483647"],
    ["messageMs=2147483648", "--limit messageMs=2147483648: give a number from 1 to 2147483647"],
    ["toString=1", "--limit toString: this limit does not exist; the limits are "],
  ])("rejects %s with the reason", async (value, text) => {
    await expect(limitsOf(value)).rejects.toThrow(text);
  });

  it("takes every limit that the README lists with its default, and the README lists every limit", () => {
    expect(documented("Limits of a server")).toEqual(defaultNamedLimits);
  });
});

describe("wireLimits", () => {
  it("takes the limits of connections, calls and messages, and no others", async () => {
    const limitsOfReplay = async (value: string): Promise<object> =>
      limitsFlag(parseCall(replayCommand, ["f", "--limit", value]), wireLimits);
    expect(await limitsOfReplay("messageMs=5")).toEqual({ messageMs: 5 });
    await expect(limitsOfReplay("subscriptions=1")).rejects.toThrow(
      "--limit subscriptions: this limit does not exist; the limits are emptyBytes, ",
    );
  });
});

describe("channelLimits", () => {
  it("sets limits of the connections to the servers that are asked", async () => {
    expect(await channelLimitsOf("maxMessageBytes=5", "pingMs=1000")).toEqual({
      maxMessageBytes: 5,
      pingMs: 1_000,
    });
    await expect(channelLimitsOf("messageMs=5")).rejects.toThrow(
      "--channel-limit messageMs: this limit does not exist; the limits are closeGraceMs, connectMs, ",
    );
    await expect(channelLimitsOf("pingMs")).rejects.toThrow(
      '--channel-limit "pingMs": give NAME=NUMBER, such as maxMessageBytes=200000000',
    );
  });

  it("takes every limit that the README lists with its default, and the README lists every limit", () => {
    expect(documented("Limits of a client")).toEqual(defaultChannelLimits);
  });
});

/** The rows of a section of the README, by name. */
function documented(section: string): Readonly<Record<string, number>> {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, text = ""] = readme.split(`\n## ${section}\n`);
  const rows = [
    ...(text.split("\n## ", 1)[0] ?? "").matchAll(/^\| `([A-Za-z]+)` \| (never|[\d,]+) \| /gm),
  ].map(
    ([, name = "", value = ""]) =>
      [name, value === "never" ? Infinity : Number(value.replaceAll(",", ""))] as const,
  );
  return Object.fromEntries(rows);
}
