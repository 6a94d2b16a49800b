import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import { useDir } from "../../../snapshot/test/snapshots.ts";

const glob = flagName("ns/*");
const member = (id: string): string => flagName(`ns/${id}`);

/**
 * A relay that was restarted after upstream had sent `a` and `b` of a glob, but had not reported
 * that these are all members.
 */
async function restarted(dir: string): Promise<RelayWorld> {
  const first = useWorld({ relay: { snapshot: { dir } } });
  first.connect("delta").ask(flagUrl, glob);
  await first.settle();
  first.up.reply(flagUrl, {
    resources: [
      { name: member("a"), text: "1", version: "1" },
      { name: member("b"), text: "1", version: "1" },
    ],
  });
  await first.settle();
  await first.relay.close();
  return useWorld({ relay: { snapshot: { dir } } });
}

describe("of a collection that is not known completely", () => {
  it("the stored members are sent to delta clients while upstream is away, and later only what differs [B-RELAY-9] [B-RELAY-18]", async () => {
    const world = await restarted(useDir());
    world.up.down = true;
    const client = world.connect("delta");
    client.ask(flagUrl, glob);
    await world.pass(100);
    expect(client.take().map(({ shown, removed }) => [shown, removed])).toEqual([
      [["a=1", "b=1"], []],
    ]);
    expect(world.relay.cache.topic(flagUrl, { name: glob }).settled).toBe(false);
    world.up.down = false;
    while (world.up.calls.length === 0) await world.pass(1_000);
    world.up.reply(flagUrl, {
      resources: [
        { name: member("a"), text: "1", version: "1" },
        { name: member("c"), text: "1", version: "1" },
      ],
    });
    await world.pass(200);
    const answers = client.take();
    expect([
      answers.flatMap(({ shown }) => shown),
      answers.flatMap(({ removed }) => removed),
    ]).toEqual([["c=1"], [member("b")]]);
    expect(world.relay.cache.topic(flagUrl, { name: glob }).settled).toBe(true);
  });

  it("nothing is sent before upstream has had a chance to answer [B-RELAY-9]", async () => {
    const world = await restarted(useDir());
    const client = world.connect("delta");
    client.ask(flagUrl, glob);
    await world.pass(5_000);
    expect(client.take()).toEqual([]);
    world.up.reply(flagUrl, { resources: [{ name: member("b"), text: "2" }] });
    await world.pass(200);
    expect(client.take().map(({ shown, removed }) => [shown, removed])).toEqual([[["b=2"], []]]);
  });

  it("the stored members are sent where upstream is connected and silent, after the time that an answer may take [B-RELAY-10]", async () => {
    const world = await restarted(useDir());
    const client = world.connect("delta");
    client.ask(flagUrl, glob);
    await world.pass(20_000);
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=1", "b=1"]]);
    expect(world.relay.cache.topic(flagUrl, { name: glob }).settled).toBe(false);
  });

  it("nothing is sent to a SotW client: what it is not sent it would delete [B-RELAY-15]", async () => {
    const world = await restarted(useDir());
    world.up.down = true;
    const client = world.connect("sotw");
    client.ask(flagUrl, glob);
    await world.pass(3_600_000);
    expect(client.take().flatMap(({ shown }) => shown)).toEqual([]);
  });

  it("that it is empty is not sent, where the members that were sent have gone [B-RELAY-9] [S-GLOB-3]", async () => {
    const world = useWorld();
    const client = world.connect("delta");
    client.ask(flagUrl, glob, member("a"));
    await world.settle();
    world.up.reply(flagUrl, {
      resources: [{ name: member("b"), text: "1", version: "1", ttlMs: 60_000 }],
    });
    await world.settle();
    world.up.die();
    await world.pass(5_000);
    expect(client.take().map(({ shown }) => shown)).toEqual([["b=1"]]);
    await world.pass(60_000);
    expect(client.take().flatMap(({ removed }) => removed)).toEqual([member("b")]);
  });

  it("a client that lists a member in that very version is not sent it again [S-RECON-4]", async () => {
    const world = await restarted(useDir());
    world.up.down = true;
    const before = world.connect("delta");
    before.ask(flagUrl, glob);
    await world.pass(100);
    const [held] = before.take().flatMap(({ resources }) => resources);
    const client = world.connect("delta");
    client.send({
      typeUrl: flagUrl,
      ...{
        resourceNamesSubscribe: [glob],
        initialResourceVersions: { [member("a")]: held?.version ?? "" },
      },
    });
    await world.pass(100);
    expect([held?.name, client.take().map(({ shown }) => shown)]).toEqual([member("a"), [["b=1"]]]);
  });

  it("asked for again, the members are sent again [S-DSUB-3]", async () => {
    const world = await restarted(useDir());
    world.up.down = true;
    const client = world.connect("delta");
    for (let n = 0; n < 2; n++) {
      client.ask(flagUrl, glob);
      await world.pass(100);
      expect(client.take().map(({ shown }) => shown)).toEqual([["a=1", "b=1"]]);
    }
  });
});
