import type { Committed, ResourceSink } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { commitWhole } from "../test/commit-whole.ts";
import { flagName, flagUrl } from "../test/flag.ts";
import { createStageWorld, type StageWorld } from "../test/stage-world.ts";
import { accepts, openVoter, rejects, silent, talk, type Voter } from "../test/voter.ts";

const name = flagName("x");
const put = (text: string): object => ({
  typeUrl: flagUrl,
  resource: { name, version: text, payload: { typeUrl: flagUrl, value: Buffer.from(text) } },
});
const commit = async (
  sink: ResourceSink | undefined,
  ...texts: readonly string[]
): Promise<Committed | undefined> =>
  sink && commitWhole(sink, { put: texts.map((text) => put(text) as never) });

interface Scene {
  readonly world: StageWorld;
  readonly voters: readonly Voter[];
  readonly go: () => Promise<void>;
  /** Returns what the clients have seen that do not see first. */
  readonly others: () => readonly string[];
}

/** Four clients have `1`; the first two, which see first, do not answer any more. */
async function scene(): Promise<Scene> {
  const world = createStageWorld({ clients: 2 }, 2);
  const voters = ["a", "b", "c", "d"].map((id) => openVoter(world, "delta", id));
  const go = async (): Promise<void> => talk(world, voters);
  for (const voter of voters) voter.ask(flagUrl, name);
  void commit(world.sinks[0], "1");
  await go();
  world.clock.advance(10_000);
  await go();
  for (const voter of voters) voter.seen.length = 0;
  for (const voter of voters.slice(0, 2)) voter.verdict = silent;
  return { world, voters, go, others: () => voters.slice(2).flatMap(({ seen }) => seen) };
}

describe("while something is on trial", () => {
  it("who leaves before anybody has answered is silent too [B-RELAY-5]", async () => {
    const { world, voters, go, others } = await scene();
    const said = commit(world.sinks[0], "2");
    await go();
    voters[0]?.stream.cancel();
    for (const voter of voters) voter.verdict = accepts;
    await go();
    expect(others()).toEqual([]);
    await world.pass(10_000);
    await go();
    expect([(await said)?.rejected, others()]).toEqual([undefined, ["x=2", "x=2"]]);
  });

  it("a newer version from elsewhere takes its place, and nobody is given the older one [B-RELAY-5]", async () => {
    const { world, voters, go, others } = await scene();
    const older = commit(world.sinks[0], "2");
    await go();
    const newer = commit(world.sinks[1], "3");
    await go();
    expect([await older, others()]).toEqual([{ revision: expect.any(Number) as number }, []]);
    for (const voter of voters) voter.verdict = accepts;
    await go();
    expect([(await newer)?.rejected, others()]).toEqual([undefined, ["x=3", "x=3"]]);
  });

  it("who rejects the newer version goes back to what was accepted, not to what was superseded [B-RELAY-5]", async () => {
    const { world, voters, go, others } = await scene();
    void commit(world.sinks[0], "2");
    await go();
    const newer = commit(world.sinks[1], "bad");
    for (const voter of voters) voter.verdict = rejects("bad");
    await go();
    expect([
      (await newer)?.rejected,
      others(),
      voters.map(({ holds }) => holds.get("x")),
    ]).toMatchObject([[{ name }], [], ["1", "1", "1", "1"]]);
  });

  it("the same from elsewhere waits for the same verdict [B-RELAY-5]", async () => {
    const { world, voters, go, others } = await scene();
    const both = [commit(world.sinks[0], "bad"), commit(world.sinks[1], "bad")];
    await go();
    expect(others()).toEqual([]);
    for (const voter of voters) voter.verdict = rejects("bad");
    await go();
    expect([(await Promise.all(both)).map((one) => one?.rejected?.length), others()]).toEqual([
      [1, 1],
      [],
    ]);
  });

  it("the same as before ends it [B-RELAY-5]", async () => {
    const { world, voters, go, others } = await scene();
    const older = commit(world.sinks[0], "2");
    await go();
    expect(await commit(world.sinks[1], "1")).not.toHaveProperty("rejected");
    expect(await older).not.toHaveProperty("rejected");
    for (const voter of voters) voter.verdict = accepts;
    await go();
    expect([others(), voters.map(({ holds }) => holds.get("x"))]).toEqual([
      [],
      ["1", "1", "1", "1"],
    ]);
  });

  it("a removal ends it, and goes to everyone at once [B-RELAY-5]", async () => {
    const { world, go, others } = await scene();
    const older = commit(world.sinks[0], "2");
    await go();
    void world.sinks[1]?.commit({ remove: [{ typeUrl: flagUrl, name }] });
    await go();
    expect([await older, others()]).toEqual([
      { revision: expect.any(Number) as number },
      ["x gone", "x gone"],
    ]);
  });

  it("a complete state without it ends it too, whoever gave it [B-RELAY-5]", async () => {
    const { world, go, others } = await scene();
    void commit(world.sinks[1], "2");
    await go();
    void world.sinks[1]?.commit({ complete: [{ typeUrl: flagUrl, interest: { name } }] });
    await go();
    expect([others(), [...world.accepted.held(flagUrl)], [...world.ahead.held(flagUrl)]]).toEqual([
      ["x gone", "x gone"],
      [],
      [],
    ]);
  });

  it("what comes back after its removal is given at once: somebody may have to be told of that yet [B-RELAY-5]", async () => {
    const { world, go, others } = await scene();
    void world.sinks[0]?.commit({ remove: [{ typeUrl: flagUrl, name }] });
    expect(await commit(world.sinks[0], "2")).not.toHaveProperty("rejected");
    await go();
    expect(others()).toEqual(["x=2", "x=2"]);
  });

  it("what has a time to live does not wait [B-RELAY-5]", async () => {
    const { world, go, others } = await scene();
    const resource = {
      name,
      version: "2",
      ttlMs: 1_000,
      expireMs: 1_000,
      payload: { typeUrl: flagUrl, value: Buffer.from("2") },
    };
    const committed = world.sinks[0]?.commit({ put: [{ typeUrl: flagUrl, resource }] });
    expect(committed?.decided).toBeUndefined();
    await go();
    expect(others()).toEqual(["x=2", "x=2"]);
  });
});
