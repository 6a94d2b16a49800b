import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";

const otherUrl = "type.googleapis.com/acme.v1.Limit";

describe.each(["delta", "sotw"] as const)("upstream over %s", (upstream) => {
  it("one request asks for what several clients want, over one stream for all types, and each gets its own [B-RELAY-1]", async () => {
    const world = useWorld({ upstream });
    const [one, other, both] = [
      world.connect("delta"),
      world.connect("sotw"),
      world.connect("delta"),
    ];
    one.ask(flagUrl, flagName("a"));
    other.ask(flagUrl, flagName("b"));
    both.ask(flagUrl, flagName("a"), flagName("b"));
    both.ask(otherUrl, "xdstp://acme/acme.v1.Limit/l");
    await world.settle();
    expect(world.up.requests().map(({ type, names }) => [type, names.toSorted()])).toEqual([
      [flagUrl, [flagName("a"), flagName("b")]],
      [otherUrl, ["xdstp://acme/acme.v1.Limit/l"]],
    ]);
    world.up.reply(flagUrl, {
      resources: [
        { name: flagName("a"), text: "1" },
        { name: flagName("b"), text: "2" },
      ],
    });
    world.up.reply(otherUrl, { resources: [{ name: "xdstp://acme/acme.v1.Limit/l", text: "3" }] });
    await world.settle();
    expect(
      [one, other, both].map((client) =>
        client
          .take()
          .flatMap(({ shown }) => shown)
          .toSorted(),
      ),
    ).toEqual([["a=1"], ["b=2"], ["a=1", "b=2", "l=3"]]);
    expect(world.up.calls).toHaveLength(1);
  });

  it("each source has one stream, and is asked for its authorities only [B-RELAY-1]", async () => {
    const world = useWorld({ upstream, servers: 2, authorities: { acme: 0, edge: 1 } });
    const edge = "xdstp://edge/acme.v1.Flag/a";
    for (const client of [world.connect("delta"), world.connect("sotw")])
      client.ask(flagUrl, flagName("a"), edge);
    await world.settle();
    expect(
      world.upstreams.map((server) => [
        server.calls.length,
        server.requests().map(({ names }) => names),
      ]),
    ).toEqual([
      [1, [[flagName("a")]]],
      [1, [[edge]]],
    ]);
  });
});

it("the two globs of the example are one request, and its answers are split by glob [B-RELAY-1]", async () => {
  const world = useWorld();
  const [one, other] = [world.connect("delta"), world.connect("delta")];
  one.ask(flagUrl, flagName("a/*"));
  other.ask(flagUrl, flagName("b/*"));
  await world.settle();
  expect(world.up.requests().map(({ names }) => names)).toEqual([
    [flagName("a/*"), flagName("b/*")],
  ]);
  world.up.reply(flagUrl, {
    resources: ["a/1", "b/1", "a/2"].map((path) => ({ name: flagName(path), text: path })),
  });
  await world.pass(200);
  expect(
    [one, other].map((client) =>
      client.take().map(({ resources }) => resources.map(({ name }) => name)),
    ),
  ).toEqual([[[flagName("a/1"), flagName("a/2")]], [[flagName("b/1")]]]);
});

it.each(["delta", "sotw"] as const)(
  "streams of one type and aggregated ones share what is asked upstream (%s) [B-RELAY-1] [B-RELAY-15]",
  async (variant) => {
    const world = useWorld();
    const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/c";
    const own = world.connect(
      variant,
      { id: "own" },
      `/envoy.service.cluster.v3.ClusterDiscoveryService/${variant === "delta" ? "DeltaClusters" : "StreamClusters"}`,
    );
    const all = world.connect(variant, { id: "all" });
    for (const client of [own, all]) client.ask(clusterUrl, name);
    await world.settle();
    expect(world.up.requests().map(({ names }) => names)).toEqual([[name]]);
    world.up.reply(clusterUrl, { resources: [{ name, text: "1" }] });
    await world.settle();
    expect(
      [own, all].map((client) => client.take().map(({ resources }) => resources.length)),
    ).toEqual([[1], [1]]);
  },
);
