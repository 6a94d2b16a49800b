import type { Put, Topic } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../test/flag.ts";
import { createStageWorld, type StageWorld } from "../test/stage-world.ts";
import { accepts, openVoter, rejects, talk } from "../test/voter.ts";
import { readerView } from "./client-topic.ts";

const put = (path: string, text: string): Put => ({
  typeUrl: flagUrl,
  resource: {
    name: flagName(path),
    version: text,
    payload: { typeUrl: flagUrl, value: Buffer.from(text) },
  },
});
const watcher = (onWake: () => void = () => undefined): { readonly wake: () => void } => ({
  wake: onWake,
});

function topicOf({ quorum }: StageWorld, client: string, name = flagName("x")): Topic {
  return readerView(quorum.source, client).topic(flagUrl, { name });
}

describe("the topic of a client that comes to see first", () => {
  it("never goes back, and still has what its reader has not read [B-RELAY-5]", async () => {
    const world = createStageWorld({ clients: 1 });
    const [first, next] = [topicOf(world, "a"), topicOf(world, "b")];
    const mine = watcher();
    first.watch(mine);
    let wakes = 0;
    next.watch(
      watcher(() => {
        wakes++;
      }),
    );
    void world.sinks[0]?.commit({ put: [put("x", "1")] });
    const read = world.quorum.source.revision;
    void world.sinks[0]?.commit({ put: [put("x", "2")] });
    await world.pass(10_000);
    const { head } = next;
    const before = next.changes(read);
    expect([before?.map(({ resource }) => resource?.version), head > first.head]).toEqual([
      ["2"],
      true,
    ]);
    wakes = 0;
    first.unwatch(mine);
    expect([next.head, next.changes(read), wakes]).toEqual([head, before, 1]);
    void world.sinks[0]?.commit({ put: [put("x", "3")] });
    expect([
      next.changes(read)?.map(({ resource }) => resource?.version),
      next.head > head,
    ]).toEqual([["3"], true]);
    expect(
      world.accepted.topic(flagUrl, { name: flagName("x") }).get(flagName("x"))?.resource?.version,
    ).toBe("2");
  });

  it("gives readers in the same state the same arrays [B-RELAY-5]", async () => {
    const world = createStageWorld({ clients: 1 });
    const glob = flagName("g/*");
    const leaving = topicOf(world, "a", glob);
    const mine = watcher();
    leaving.watch(mine);
    // Two streams of one client.
    const [one, other] = [topicOf(world, "b", glob), topicOf(world, "b", glob)];
    for (const topic of [one, other]) topic.watch(watcher());
    void world.sinks[0]?.commit({ put: [put("g/1", "1"), put("g/2", "1")] });
    const read = world.quorum.source.revision;
    void world.sinks[0]?.commit({ put: [put("g/1", "2")] });
    await world.pass(10_000);
    leaving.unwatch(mine);
    void world.sinks[0]?.commit({ put: [put("g/2", "2")] });
    expect(
      one
        .changes(read)
        ?.map(({ name, resource }) => `${name.at(-1) ?? ""}=${resource?.version ?? ""}`),
    ).toEqual(["1=2", "2=2"]);
    expect(other.changes(read)).toBe(one.changes(read));
  });
});

describe("a full state", () => {
  it("that holds what was accepted before beside what is bad is rejected all the same [B-RELAY-5]", async () => {
    const world = createStageWorld({ clients: 1 });
    const voters = ["a", "b"].map((id) => openVoter(world, "sotw", id, accepts, "whole"));
    for (const voter of voters) voter.ask(flagUrl, "*");
    const say = async (path: string, text: string): Promise<number | undefined> => {
      const said = world.sinks[0]?.commit({ put: [put(path, text)] });
      await talk(world, voters);
      return (await said?.decided)?.rejected?.length;
    };
    for (const [path, text] of [
      ["x", "1@x"],
      ["y", "1@y"],
      ["x", "2@x"],
    ] as const)
      await say(path, text);
    for (const voter of voters) voter.verdict = rejects("bad@y");
    expect([await say("y", "bad@y"), voters.map(({ holds }) => Object.fromEntries(holds))]).toEqual(
      [
        1,
        [
          { x: "2@x", y: "1@y" },
          { x: "2@x", y: "1@y" },
        ],
      ],
    );
  });
});
