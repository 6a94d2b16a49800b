import { describe, expect, it } from "vitest";
import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const RESOURCE_EXHAUSTED = 8;
const [a, b, c, d] = ["a", "b", "c", "d"].map(flagName) as [string, string, string, string];

describe("names beyond what a server upstream accepts", () => {
  it("are not subscribed, are told to who asks for them, and take nothing from other clients [S-LIM-4]", async () => {
    const world = useWorld({ relay: { upstreamNames: 2 } });
    const calm = world.connect("delta", { id: "calm" });
    calm.ask(flagUrl, a);
    await world.settle();
    const greedy = world.connect("delta", { id: "greedy" });
    greedy.ask(flagUrl, b, c, d);
    await world.settle();
    expect(world.up.requests().flatMap(({ names }) => names)).toEqual([a, b]);
    expect(greedy.take()).toMatchObject([{ removed: [], errors: [{ name: c, code: RESOURCE_EXHAUSTED }, { name: d, code: RESOURCE_EXHAUSTED }] }]);
    world.up.reply(flagUrl, { resources: [{ name: a, text: "1" }] });
    await world.settle();
    expect([calm.take().flatMap(({ shown }) => shown), world.up.calls.length]).toEqual([["a=1"], 1]);
    expect(world.events.filter(({ kind }) => kind === "upstream-full")).toMatchObject([{ typeUrl: flagUrl, names: [c, d] }]);
  });

  it("are subscribed in their order as others end, and those that are dropped before are not [S-LIM-4]", async () => {
    const world = useWorld({ relay: { upstreamNames: 1, lingerMs: 0 } });
    const first = world.connect("delta", { id: "first" });
    first.ask(flagUrl, a);
    await world.settle();
    const second = world.connect("delta", { id: "second" });
    second.ask(flagUrl, b, c, d);
    await world.settle();
    world.up.requests();
    second.take();
    second.leave(flagUrl, b);
    await world.settle();
    await world.pass(0);
    first.stream.cancel();
    await world.pass(1);
    expect(world.up.requests().flatMap(({ names }) => names)).toEqual([c]);
    world.up.reply(flagUrl, { resources: [{ name: c, text: "at last" }] });
    await world.settle();
    expect(second.take().flatMap(({ shown }) => shown)).toEqual(["c=at last"]);
  });

  it("are limited for globs and over all types too [S-LIM-4]", async () => {
    const world = useWorld({ relay: { upstreamNames: 10 } });
    const client = world.connect("delta");
    client.ask(flagUrl, flagName("x/*"), flagName("y/*"));
    for (const type of ["One", "Two", "Three"]) client.ask(`type.googleapis.com/acme.v1.${type}`, ...Array.from({ length: 9 }, (_, index) => `xdstp://acme/acme.v1.${type}/${index}`));
    await world.settle();
    const asked = world.up.requests().flatMap(({ names }) => names);
    expect([asked.length, asked.filter((name) => name.endsWith("*"))]).toEqual([20, [flagName("x/*")]]);
  });
});
