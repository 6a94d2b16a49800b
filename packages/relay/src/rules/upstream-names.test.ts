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

  it("are limited in bytes, so that the first request of a stream is one that a server accepts [S-LIM-4]", async () => {
    const world = useWorld();
    const client = world.connect("delta");
    const names = Array.from({ length: 8_000 }, (_, index) => flagName(`${index}-${"x".repeat(1_800)}`));
    client.ask(flagUrl, ...names);
    await world.settle();
    const asked = world.up.requests().flatMap((request) => request.names);
    const bytes = asked.join("").length;
    const most = 12 * 1_024 * 1_024;
    expect(bytes).toBeLessThanOrEqual(most);
    expect(bytes).toBeGreaterThan(most - 2_048);
    client.leave(flagUrl, ...asked.slice(0, 10));
    await world.pass(60_001);
    expect(world.up.requests().flatMap((request) => request.names)).toEqual(names.slice(asked.length, asked.length + 10));
  });

  it("are limited in their types, of which a server accepts a number on a stream [S-LIM-4]", async () => {
    const world = useWorld();
    for (const half of [0, 40]) {
      const client = world.connect("delta", { id: `n${half}` });
      for (let index = half; index < half + 40; index++) client.ask(`type.googleapis.com/acme.v1.T${index}`, `xdstp://acme/acme.v1.T${index}/a`);
    }
    await world.settle();
    expect(new Set(world.up.requests().map(({ type }) => type)).size).toBe(64);
  });
});
