import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import { anyOf, type WireResource } from "../../../rollout/test/wire-bytes.ts";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const cluster = (name: string): string => `xdstp://acme/envoy.config.cluster.v3.Cluster/${name}`;
const clusterAny = (name: string, text: string): Uint8Array =>
  anyOf(clusterUrl, concatBytes([lengthDelimited(1, cluster(name)), lengthDelimited(4_000, text)]));
const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);

/** `not { key: "env" exists {} }`: matches clients without this parameter. */
const withoutEnv = lengthDelimited(
  4,
  lengthDelimited(1, concatBytes([lengthDelimited(1, "env"), lengthDelimited(3, "")])),
);
const metadata = concatBytes([
  lengthDelimited(1, concatBytes([lengthDelimited(1, "acme"), lengthDelimited(2, "")])),
  lengthDelimited(1_000, "unknown here"),
]);
const unknownFields = concatBytes([
  lengthDelimited(3_000, "nobody here knows this"),
  Uint8Array.of(0x38, 0x81, 0x00),
  lengthDelimited(2, "x"),
  lengthDelimited(2, "y"),
]);

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it.each<readonly [string, WireResource]>([
    [
      "of a type that nobody here knows, with metadata",
      { name: flagName("a"), version: "v~7 ü", any: anyOf(flagUrl, unknownFields), metadata },
    ],
    [
      "with a TTL",
      { name: flagName("a"), version: "1", any: anyOf(flagUrl, unknownFields), ttlMs: 90_500 },
    ],
    [
      "with constraints",
      {
        name: flagName("a"),
        version: "1",
        any: anyOf(flagUrl, unknownFields),
        constraints: withoutEnv,
      },
    ],
    [
      "with aliases",
      {
        name: "opaque",
        version: "1",
        any: anyOf(flagUrl, unknownFields),
        aliases: ["also", "and"],
      },
    ],
    ["of no bytes", { name: flagName("a"), version: "1", any: lengthDelimited(1, flagUrl) }],
  ])("what is %s passes unchanged [B-RELAY-3] [B-RELAY-15]", async (_, resource) => {
    const world = useWorld({ upstream, relay: { opaqueKey: [] } });
    const client = world.connect(downstream);
    client.ask(flagUrl, resource.name);
    await world.settle();
    world.up.reply(flagUrl, { resources: [resource] });
    await world.settle();
    expect(client.take().map(({ resources }) => resources)).toEqual([[resource]]);
    expect(world.up.requests().at(-1)?.error).toBeUndefined();
  });

  it("a type that nobody here knows, of whatever version of its own, passes as bytes, and in SotW wrapped [B-STREAM-4] [B-WRAP-4]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    const typeUrl = "type.googleapis.com/acme.v97beta.Unheard";
    const resources = ["a", "b"].map((id) => ({
      name: `xdstp://acme/acme.v97beta.Unheard/${id}`,
      version: id,
      any: anyOf(typeUrl, unknownFields),
    }));
    client.ask(typeUrl, ...resources.map(({ name }) => name));
    await world.settle();
    world.up.reply(typeUrl, { resources });
    await world.settle();
    // A resource without a wrapper has neither name nor version.
    expect(client.take().map((answer) => [answer.typeUrl, answer.resources])).toEqual([
      [typeUrl, resources],
    ]);
    await world.settle();
    expect(world.up.requests().map(({ error }) => error)).toEqual([undefined, undefined]);
  });

  it("a type of full state is answered when all of it is known, and not before [B-RELAY-15] [B-RELAY-3]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(clusterUrl, cluster("a"), cluster("b"));
    await world.settle();
    // SotW uses wrappers only if they are needed (S-WRAP-2).
    const sent = (...resources: readonly WireResource[]): readonly WireResource[] =>
      downstream === "delta"
        ? resources
        : resources.map((resource) => ({ ...resource, name: "", version: "" }));
    const a = { name: cluster("a"), version: "1", any: clusterAny("a", "1") };
    const b = { name: cluster("b"), version: "1", any: clusterAny("b", "1") };
    if (upstream === "delta") {
      world.up.reply(clusterUrl, { resources: [a] });
      await world.settle();
      // Delta has no full state: each name is sent when it is known.
      expect(client.take().map(({ resources }) => resources)).toEqual(
        downstream === "delta" ? [[a]] : [],
      );
      world.up.reply(clusterUrl, { resources: [b] });
    } else world.up.reply(clusterUrl, { resources: [a, b] });
    await world.settle();
    expect(client.take().map(({ resources }) => resources)).toEqual([
      downstream === "delta" && upstream === "delta" ? [b] : sent(a, b),
    ]);
    const updates = { name: cluster("a"), version: "2", any: clusterAny("a", "2") };
    world.up.reply(clusterUrl, {
      version: "2",
      resources: upstream === "sotw" ? [updates, b] : [updates],
    });
    await world.settle();
    expect(client.take().map(({ resources }) => resources)).toEqual([
      downstream === "sotw" ? sent(updates, b) : [updates],
    ]);
    world.up.reply(clusterUrl, {
      version: "3",
      resources: upstream === "sotw" ? [b] : [],
      removed: [cluster("a")],
    });
    await world.settle();
    expect(client.take().map(({ resources, removed }) => [resources, removed])).toEqual([
      downstream === "sotw" ? [sent(b), []] : [[], [cluster("a")]],
    ]);
  });

  it("without full state a name that is not known yet gets silence, and no empty response [B-RELAY-15] [S-STREAM-9]", async () => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, flagName("a"), flagName("b"));
    await world.settle();
    expect(client.read()).toEqual([]);
    world.up.reply(flagUrl, { resources: [{ name: flagName("a"), text: "1" }] });
    await world.settle();
    expect(client.take().map(({ shown, removed }) => [shown, removed])).toEqual([[["a=1"], []]]);
    await world.pass(10_000);
    expect(client.read()).toEqual([]);
  });
});

it("clients of all keys see the relay's own node upstream, whatever they say of themselves [B-RELAY-4]", async () => {
  const world = useWorld({ servers: 2, authorities: { acme: 0, edge: 1 } });
  world
    .connect("delta", { id: "mine", cluster: "secret", metadata: { token: "hush" } })
    .ask(flagUrl, flagName("a"), "xdstp://edge/acme.v1.Flag/a");
  world.connect("sotw", { id: "yours", cluster: "secret" }).ask(flagUrl, flagName("a"));
  await world.settle();
  const sent = world.upstreams.flatMap((server) =>
    server.requests().map(({ bytes }) => Buffer.from(bytes).toString("latin1")),
  );
  expect(
    sent.map((text) =>
      ["relay", "relays", "own", "mine", "yours", "secret", "hush"].filter((word) =>
        text.includes(word),
      ),
    ),
  ).toEqual([
    ["relay", "relays", "own"],
    ["relay", "relays", "own"],
  ]);
});

it("what is not wrapped, of a type that nobody here knows, is rejected upstream, and no client hears of it [B-WRAP-4]", async () => {
  const world = useWorld({ upstream: "sotw" });
  const clients = (["delta", "sotw"] as const).map((variant) => world.connect(variant));
  for (const client of clients) client.ask(flagUrl, flagName("a"));
  await world.settle();
  world.up.requests();
  world.up.reply(flagUrl, {
    resources: [{ name: "", version: "", any: anyOf(flagUrl, unknownFields), bare: true }],
  });
  await world.settle();
  expect(world.up.requests().map(({ error }) => error)).toEqual([
    expect.stringContaining("SotW needs the wrapper"),
  ]);
  expect(clients.flatMap((client) => client.read())).toEqual([]);
});
