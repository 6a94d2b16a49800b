import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import type { WorldClient } from "../../../rollout/test/world-client.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const name = flagName("a");

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it("what upstream does not have is missing downstream at once, and remembered for those who come later [B-RELAY-13]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, name);
    await world.settle();
    if (upstream === "delta") world.up.reply(flagUrl, { removed: [name] });
    else await world.pass(15_000);
    await world.settle();
    world.up.requests();
    const late = world.connect(downstream);
    late.ask(flagUrl, name);
    await world.settle();
    // SotW cannot report it.
    const gone = downstream === "delta" ? [name] : [];
    expect(
      [client, late].map((one) =>
        one.take().flatMap(({ resources, removed }) => [...resources, ...removed]),
      ),
    ).toEqual([gone, gone]);
    expect(world.up.requests()).toEqual([]);
    world.up.reply(flagUrl, { resources: [{ name, text: "now" }] });
    await world.settle();
    expect([client, late].map((one) => one.take().map(({ shown }) => shown))).toEqual([
      [["a=now"]],
      [["a=now"]],
    ]);
  });

  it.each([
    ["PERMISSION_DENIED", 7],
    ["UNAVAILABLE", 14],
    ["INTERNAL", 13],
  ] as const)(
    "its error %s is told downstream at once, as it is, and remembered [B-RELAY-13]",
    async (_, code) => {
      const world = useWorld({ upstream });
      const client = world.connect(downstream);
      client.ask(flagUrl, name);
      await world.settle();
      world.up.reply(flagUrl, { errors: [{ name, code, text: "because" }] });
      await world.settle();
      world.up.requests();
      const late = world.connect(downstream);
      late.ask(flagUrl, name);
      await world.settle();
      for (const one of [client, late])
        expect(one.take().map(({ errors, removed }) => [errors, removed])).toEqual([
          [[{ name, code, text: "because" }], downstream === "delta" && code === 7 ? [name] : []],
        ]);
      expect(world.up.requests()).toEqual([]);
      world.up.reply(flagUrl, { resources: [{ name, text: "now" }] });
      await world.settle();
      expect(
        [client, late].map((one) => one.take().map(({ shown, errors }) => [shown, errors])),
      ).toEqual([[[["a=now"], []]], [[["a=now"], []]]]);
    },
  );

  it("an error that will pass stands beside what is held, and takes nothing from a client [B-RELAY-13]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, name);
    await world.settle();
    world.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    client.take();
    world.up.reply(flagUrl, { errors: [{ name, code: 14, text: "because" }] });
    await world.settle();
    const late = world.connect(downstream);
    late.ask(flagUrl, name);
    await world.settle();
    expect(client.take().flatMap(({ removed, resources }) => [...removed, ...resources])).toEqual(
      [],
    );
    expect(late.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
  });
});

describe.each(ways)("of a glob, %s upstream, %s downstream,", (upstream, downstream) => {
  const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const cluster = (id: string): string => `xdstp://acme/envoy.config.cluster.v3.Cluster/${id}`;
  const [glob, a] = [cluster("*"), cluster("a")];
  /** Returns the content of each response. A SotW response has the whole state. */
  const shown = (client: WorldClient): readonly unknown[] =>
    client.take().map(({ resources, removed, errors }) => [resources.length, removed, errors]);

  it.each([
    ["PERMISSION_DENIED", 7],
    ["NOT_FOUND", 5],
  ] as const)(
    "its error %s is told downstream at once, as it is, and remembered, until there is a member [B-RELAY-13] [S-ERR-5] [S-ERR-3]",
    async (_, code) => {
      const world = useWorld({ upstream });
      const client = world.connect(downstream);
      client.ask(clusterUrl, glob);
      await world.settle();
      world.up.reply(clusterUrl, { errors: [{ name: glob, code, text: "because" }] });
      await world.settle();
      world.up.requests();
      const late = world.connect(downstream);
      late.ask(clusterUrl, glob);
      await world.settle();
      const isTold = downstream === "sotw" || code === 7;
      for (const one of [client, late])
        expect(shown(one)).toEqual([
          [
            0,
            downstream === "delta" ? [glob] : [],
            isTold ? [{ name: glob, code, text: "because" }] : [],
          ],
        ]);
      expect(world.up.requests()).toEqual([]);
      world.up.reply(clusterUrl, { resources: [{ name: a, text: "1" }] });
      await world.settle();
      for (const one of [client, late]) expect(shown(one)).toEqual([[1, [], []]]);
      world.up.reply(clusterUrl, { removed: [a, glob] });
      await world.settle();
      for (const one of [client, late])
        expect(shown(one).flat()).toEqual([0, downstream === "delta" ? [a, glob] : [], []]);
    },
  );

  it("its error takes its members from clients, and another one in its place is told once [B-RELAY-13] [S-ERR-5] [S-ERR-1]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(clusterUrl, glob);
    await world.settle();
    world.up.reply(clusterUrl, { resources: [{ name: a, text: "1" }] });
    await world.pass(1_000);
    expect(shown(client)).toEqual([[1, [], []]]);
    const error = (text: string) => ({ name: glob, code: 7, text });
    const say = async (
      errors: readonly ReturnType<typeof error>[],
    ): Promise<readonly unknown[]> => {
      world.up.reply(clusterUrl, { removed: [glob], errors });
      await world.settle();
      return shown(client);
    };
    const of = (...removed: readonly string[]): readonly string[] =>
      downstream === "delta" ? removed : [];
    expect(await say([error("not for you")])).toEqual([[0, of(a, glob), [error("not for you")]]]);
    expect(await say([error("not for you")])).toEqual([]);
    expect(await say([error("nor for others")])).toEqual([
      [0, of(glob), [error("nor for others")]],
    ]);
    expect(await say([])).toEqual(downstream === "delta" ? [[0, [glob], []]] : []);
  });

  it("an error that will pass is told once where nothing is known, as far as it takes nothing from a client, until that is known [B-RELAY-13] [S-ERR-5] [S-ERR-1] [S-ERR-3]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(clusterUrl, glob);
    await world.settle();
    const told = (text: string): unknown =>
      downstream === "delta" ? [[0, [], [{ name: glob, code: 14, text }]]] : [];
    const fail = async (text: string): Promise<void> => {
      world.up.reply(clusterUrl, { errors: [{ name: glob, code: 14, text }] });
      await world.settle();
    };
    await fail("because");
    expect(shown(client)).toEqual(told("because"));
    const late = world.connect(downstream);
    late.ask(clusterUrl, glob);
    await world.settle();
    expect(shown(late)).toEqual(told("because"));
    await fail("because");
    world.up.die();
    await world.pass(60_000);
    world.up.down = false;
    for (const calls = world.up.calls.length; world.up.calls.length === calls;)
      await world.pass(1_000);
    await fail("because");
    expect([shown(client), shown(late)]).toEqual([[], []]);
    await fail("still");
    expect([shown(client), shown(late)]).toEqual([told("still"), told("still")]);
    world.up.reply(clusterUrl, { resources: [{ name: a, text: "1" }] });
    await world.pass(1_000);
    for (const one of [client, late]) expect(shown(one)).toEqual([[1, [], []]]);
  });

  it("an error that will pass takes nothing from a client [B-RELAY-13] [S-ERR-3]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(clusterUrl, glob);
    await world.settle();
    world.up.reply(clusterUrl, { resources: [{ name: a, text: "1" }] });
    await world.pass(1_000);
    shown(client);
    world.up.reply(clusterUrl, { errors: [{ name: glob, code: 14, text: "because" }] });
    await world.settle();
    expect(shown(client)).toEqual([]);
    const late = world.connect(downstream);
    late.ask(clusterUrl, glob);
    await world.settle();
    expect(shown(late)).toEqual([[1, [], []]]);
  });
});

it("a client that comes back to a glob that cannot be had for now keeps what it lists, until the glob is known [B-RELAY-13] [S-ERR-3] [S-RECON-4]", async () => {
  const world = useWorld();
  const client = world.connect("delta");
  client.send({
    typeUrl: flagUrl,
    ...{
      resourceNamesSubscribe: [flagName("*")],
      initialResourceVersions: { [flagName("a")]: "1", [flagName("b")]: "1" },
    },
  });
  await world.settle();
  world.up.reply(flagUrl, { errors: [{ name: flagName("*"), code: 14, text: "because" }] });
  await world.pass(60_000);
  expect(client.take().map(({ removed, errors }) => [removed, errors.length])).toEqual([[[], 1]]);
  world.up.reply(flagUrl, { resources: [{ name: flagName("a"), text: "1" }] });
  await world.pass(1_000);
  expect(client.take().map(({ shown, removed }) => [shown, removed])).toEqual([
    [["a=1"], [flagName("b")]],
  ]);
});

it("of a type whose full state deletes by absence an error that will pass is not a reason to answer without the name [B-RELAY-13] [B-RELAY-15] [S-ERR-3]", async () => {
  const world = useWorld();
  const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const [held, other] = ["held", "other"].map(
    (id) => `xdstp://acme/envoy.config.cluster.v3.Cluster/${id}`,
  );
  const client = world.connect("sotw");
  client.send({
    typeUrl: clusterUrl,
    ...{ versionInfo: "of before", resourceNames: [held, other] },
  });
  await world.settle();
  world.up.reply(clusterUrl, {
    resources: [{ name: other ?? "", text: "1" }],
    errors: [{ name: held ?? "", code: 14, text: "because" }],
  });
  await world.pass(60_000);
  expect(client.read()).toEqual([]);
  world.up.reply(clusterUrl, { resources: [{ name: held ?? "", text: "1" }] });
  await world.settle();
  expect(client.read().map(({ resources }) => resources.length)).toEqual([2]);
});

it("what is not a name is missing before upstream has said anything [B-RELAY-13]", async () => {
  const world = useWorld();
  const client = world.connect("delta");
  client.ask(flagUrl, "xdstp://acme/acme.v1.Flag/a#alt=b", "xdstp://acme/acme.v1.Other/a");
  await world.settle();
  expect(client.take().map(({ removed }) => removed.toSorted())).toEqual([
    ["xdstp://acme/acme.v1.Flag/a#alt=b", "xdstp://acme/acme.v1.Other/a"],
  ]);
});
