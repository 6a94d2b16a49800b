import { describe, expect, it } from "vitest";

import type { Action } from "../action.ts";
import type { Watched } from "../sim-client.ts";
import { FLAGS } from "../types.ts";
import type { World } from "../simulated-world.ts";
import { createWorld } from "../world.ts";
import { memoryFollowsInterest } from "./memory-follows-interest.ts";

const history: readonly Action[] = [
  { waitMs: 0, deed: { kind: "watch", client: 0, typeUrl: FLAGS, name: "a" } },
  { waitMs: 0, deed: { kind: "watch", client: 0, typeUrl: FLAGS, name: "also-b" } },
  {
    waitMs: 0,
    deed: { kind: "watch", client: 0, typeUrl: FLAGS, name: "xdstp://a/test.Flag/p/*" },
  },
  {
    waitMs: 0,
    deed: {
      kind: "commit",
      origin: 0,
      changes: [
        { typeUrl: FLAGS, name: "a", text: "1" },
        { typeUrl: FLAGS, name: "b", text: "1", alias: "also-b" },
        { typeUrl: FLAGS, name: "xdstp://a/test.Flag/p/1", text: "1" },
      ],
    },
  },
  { waitMs: 0, deed: { kind: "rest" } },
];

/** Returns the reports after a client claims to watch only these. */
async function reportsOf(
  watches: (watched: Watched) => boolean,
  look: "onLook" | "onRest",
): Promise<readonly string[]> {
  const world = createWorld({ seed: 1 });
  await world.run(history);
  expect(world.violation).toBeUndefined();
  const [client] = world.clients;
  if (client === undefined) throw new Error("a client was expected");
  const watched = new Map([...client.watched].filter(([, one]) => watches(one)));
  const forgetful: World = {
    ...world,
    servers: world.servers,
    network: world.network,
    clients: [{ ...client, cache: client.cache, feed: client.feed, watched }],
  };
  const reports: string[] = [];
  const invariant = memoryFollowsInterest(forgetful, (_, text) => {
    reports.push(text);
  });
  for (let looks = 0; looks < 5; looks++) invariant[look]?.();
  world.close();
  return [...new Set(reports)];
}

describe("memoryFollowsInterest()", () => {
  it("is green where all that is kept is watched, by name, alias or glob", async () => {
    expect(await reportsOf(() => true, "onLook")).toEqual([]);
    expect(await reportsOf(() => true, "onRest")).toEqual([]);
  });

  it.each([
    ["a", "a"],
    ["also-b", "b"],
    ["xdstp://a/test.Flag/p/*", "xdstp://a/test.Flag/p/1"],
  ])(
    "is red where a client keeps what came by %s and is watched no more [B-RELAY-10]",
    async (wanted, kept) => {
      expect(await reportsOf(({ name }) => name !== wanted, "onLook")).toEqual([
        `client 0 keeps ${kept}, which it does not watch`,
      ]);
    },
  );

  it("is red at rest where a client end or a server still knows of what is wanted no more [S-STREAM-10]", async () => {
    expect(await reportsOf(({ name }) => name !== "a", "onRest")).toEqual([
      "the client end of client 0 knows of 3 wants, and there are 2",
      "server 0 keeps 3 topics, and 2 things are wanted of it",
    ]);
  });
});
