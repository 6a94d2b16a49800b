import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";

import { useChain } from "../../test/chain-world.ts";
import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import { connectClient, type WorldClient } from "../../../rollout/test/world-client.ts";

const RESOURCE_EXHAUSTED = 8;
const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(flagName) as [
  string,
  string,
  string,
  string,
  string,
];

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
    expect(greedy.take()).toMatchObject([
      {
        removed: [],
        errors: [
          { name: c, code: RESOURCE_EXHAUSTED },
          { name: d, code: RESOURCE_EXHAUSTED },
        ],
      },
    ]);
    world.up.reply(flagUrl, { resources: [{ name: a, text: "1" }] });
    await world.settle();
    expect([calm.take().flatMap(({ shown }) => shown), world.up.calls.length]).toEqual([
      ["a=1"],
      1,
    ]);
    expect(world.events.filter(({ kind }) => kind === "upstream-full")).toMatchObject([
      { typeUrl: flagUrl, names: [c, d] },
    ]);
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
    await world.pass(1_000);
    expect(world.up.requests().flatMap(({ names }) => names)).toEqual([c]);
    world.up.reply(flagUrl, { resources: [{ name: c, text: "at last" }] });
    await world.settle();
    expect(second.take().flatMap(({ shown }) => shown)).toEqual(["c=at last"]);
  });

  it("are limited for globs and over all types too [S-LIM-4]", async () => {
    const world = useWorld({ relay: { upstreamNames: 10 } });
    const client = world.connect("delta");
    client.ask(flagUrl, flagName("x/*"), flagName("y/*"));
    for (const type of ["One", "Two", "Three"])
      client.ask(
        `type.googleapis.com/acme.v1.${type}`,
        ...Array.from({ length: 9 }, (_, index) => `xdstp://acme/acme.v1.${type}/${index}`),
      );
    await world.settle();
    const asked = world.up.requests().flatMap(({ names }) => names);
    expect([asked.length, asked.filter((name) => name.endsWith("*"))]).toEqual([
      20,
      [flagName("x/*")],
    ]);
    expect(
      client
        .take()
        .flatMap(({ errors }) => errors)
        .filter(({ name }) => name.endsWith("*")),
    ).toMatchObject([{ name: flagName("y/*"), code: RESOURCE_EXHAUSTED }]);
  });

  it("are limited in bytes, so that the first request of a stream is one that a server accepts [S-LIM-4]", async () => {
    const world = useWorld();
    const client = world.connect("delta");
    const names = Array.from({ length: 8_000 }, (_, index) =>
      flagName(`${index}-${"x".repeat(1_800)}`),
    );
    client.ask(flagUrl, ...names);
    await world.settle();
    const asked = world.up.requests().flatMap((request) => request.names);
    const bytes = asked.join("").length;
    const most = 12 * 1_024 * 1_024;
    expect(bytes).toBeLessThanOrEqual(most);
    expect(bytes).toBeGreaterThan(most - 2_048);
    client.leave(flagUrl, ...asked.slice(0, 10));
    await world.pass(61_001);
    expect(world.up.requests().flatMap((request) => request.names)).toEqual(
      names.slice(asked.length, asked.length + 10),
    );
  });

  it("are limited in their types, of which a server accepts a number on a stream [S-LIM-4]", async () => {
    const world = useWorld();
    const types = new Set<string>();
    // A server has one stream as long as a name of it is subscribed.
    world.connect("delta", { id: "calm" }).ask(flagUrl, a);
    for (const half of [0, 40]) {
      const client = world.connect("delta", { id: `n${half}` });
      for (let index = half; index < half + 40; index++)
        client.ask(`type.googleapis.com/acme.v1.T${index}`, `xdstp://acme/acme.v1.T${index}/a`);
      await world.settle();
      client.stream.cancel();
      // A stream remembers a type even if all its names are unsubscribed.
      await world.pass(120_000);
      for (const { type } of world.up.requests()) types.add(type);
    }
    const client = world.connect("delta", { id: "late" });
    for (const { typeUrl } of envoyTypes)
      client.ask(typeUrl, `xdstp://acme/${typeUrl.slice("type.googleapis.com/".length)}/a`);
    await world.settle();
    for (const { type } of world.up.requests()) types.add(type);
    expect(types.size).toBeLessThanOrEqual(64);
    expect(types.size).toBeGreaterThan(60);
    expect(envoyTypes.filter(({ typeUrl }) => !types.has(typeUrl))).toEqual([]);
  });
});

describe.each(["delta", "sotw"] as const)(
  "a server upstream that ends streams with more names than it accepts (%s)",
  (variant) => {
    const limited = (): ReturnType<typeof useChain> => {
      const chain = useChain(variant, {
        origin: { limits: { stream: { subscriptions: 3, streamSubscriptions: 6 } } },
        relay: { upstreamNames: 3, lingerMs: 100 },
      });
      for (const name of [a, b, c, d, e])
        chain.origin.put({ typeUrl: flagUrl, name, value: Buffer.from("1") });
      return chain;
    };
    const shown = (client: WorldClient): readonly string[] =>
      client.take().flatMap((answer) => answer.shown);

    it("does not end that of a relay where names wait for others that end [S-LIM-4]", async () => {
      const { server, ended, pass } = limited();
      const first = connectClient(server, "delta", { id: "first" });
      first.ask(flagUrl, a, b, c);
      await pass(1_000);
      const second = connectClient(server, "delta", { id: "second" });
      second.ask(flagUrl, d, e);
      await pass(1_000);
      expect([shown(first), shown(second)]).toEqual([["a=1", "b=1", "c=1"], []]);
      first.stream.cancel();
      await pass(10_000);
      expect([shown(second), ended()]).toEqual([["d=1", "e=1"], []]);
    });

    it("does not end that of a relay where a client swaps one name for another again and again [S-LIM-4]", async () => {
      const { origin, server, ended, pass } = limited();
      const calm = connectClient(server, "delta", { id: "calm" });
      calm.ask(flagUrl, a, b);
      const restless = connectClient(server, "delta", { id: "restless" });
      const seen: string[] = [];
      let last = c;
      restless.ask(flagUrl, c);
      for (const next of [d, e, c, d]) {
        await pass(5_000);
        seen.push(...shown(restless));
        restless.leave(flagUrl, last);
        restless.ask(flagUrl, next);
        last = next;
      }
      await pass(5_000);
      seen.push(...shown(restless));
      shown(calm);
      origin.put({ typeUrl: flagUrl, name: a, value: Buffer.from("2") });
      await pass(5_000);
      expect([seen, shown(calm), ended()]).toEqual([
        ["c=1", "d=1", "e=1", "c=1", "d=1"],
        ["a=2"],
        [],
      ]);
    });

    it("does not end that of a relay where names of one type end and those of another wait [S-LIM-4]", async () => {
      const { origin, server, ended, pass } = limited();
      const namesOf = (type: string): readonly string[] =>
        ["x", "y", "z"].map((id) => `xdstp://acme/acme.v1.${type}/${id}`);
      const types = ["One", "Two", "Three"];
      for (const type of types)
        for (const name of namesOf(type))
          origin.put({
            typeUrl: `type.googleapis.com/acme.v1.${type}`,
            name,
            value: Buffer.from("1"),
          });
      const clients = types.map((id) => connectClient(server, "delta", { id }));
      const ask = (index: number): void => {
        clients[index]?.ask(
          `type.googleapis.com/acme.v1.${types[index]}`,
          ...namesOf(types[index] ?? ""),
        );
      };
      ask(0);
      ask(1);
      await pass(5_000);
      ask(2);
      await pass(5_000);
      for (let round = 0; round < 9; round++) {
        clients[round % 3]?.leave(
          `type.googleapis.com/acme.v1.${types[round % 3]}`,
          ...namesOf(types[round % 3] ?? ""),
        );
        await pass(5_000);
        ask(round % 3);
        await pass(5_000);
      }
      // Each client has asked four times for three names. The one that asked last still waits.
      expect([clients.map((client) => shown(client).length), ended()]).toEqual([[12, 12, 9], []]);
    });
  },
);
