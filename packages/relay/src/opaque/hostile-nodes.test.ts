import { expect, it } from "vitest";

import { flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import { useDir } from "../../../snapshot/test/snapshots.ts";

it("a tenant finds what it has in the snapshot, in whatever order its clients write their metadata [B-RELAY-2] [B-RELAY-9]", async () => {
  const dir = useDir();
  const use = (
    labels: object,
  ): {
    readonly world: ReturnType<typeof useWorld>;
    readonly client: ReturnType<ReturnType<typeof useWorld>["connect"]>;
  } => {
    const world = useWorld({ relay: { opaqueKey: ["metadata.labels"], snapshot: { dir } } });
    const client = world.connect("delta", { id: "c", metadata: { labels } } as object);
    client.ask(flagUrl, "a");
    return { world, client };
  };
  const { world } = use({ team: "blue", stage: "prod" });
  await world.settle();
  world.up.reply(flagUrl, { resources: [{ name: "a", text: "1" }] });
  await world.settle();
  await world.relay.close();
  const again = use({ stage: "prod", team: "blue" });
  await again.world.settle();
  expect(again.client.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
  await again.world.relay.close();
  const other = use({ stage: "prod", team: "red" });
  await other.world.settle();
  expect(other.client.take()).toEqual([]);
});

it.each(["delta", "sotw"] as const)(
  "places are told apart by their parts, though these have slashes in them (%s) [B-RELAY-2]",
  async (variant) => {
    const world = useWorld({
      relay: { opaqueKey: ["locality.region", "locality.zone", "locality.sub_zone"] },
    });
    const places = [
      { region: "a/b" },
      { region: "a", zone: "b" },
      { region: "a", zone: "b", subZone: "c/d" },
      { region: "a", zone: "b/c", subZone: "d" },
      {},
    ];
    for (const [nth, locality] of places.entries())
      world.connect(variant, { id: `c${nth}`, locality }).ask(flagUrl, "x");
    world.connect(variant, { id: "without" }).ask(flagUrl, "x");
    await world.settle();
    expect(world.relay.tenants().map(({ values }) => Object.values(values))).toEqual([
      ["a/b", null, null],
      ["a", "b", null],
      ["a", "b", "c/d"],
      ["a", "b/c", "d"],
      [null, null, null],
    ]);
  },
);

it.each(["delta", "sotw"] as const)(
  "odd values are values like others (%s) [B-RELAY-2]",
  async (variant) => {
    const world = useWorld({ relay: { opaqueKey: ["id", "metadata.k"] } });
    const long = "x".repeat(10_000);
    const nodes = [
      { id: "é" },
      { id: "e\u0301" },
      { id: "a\nb" },
      { id: long },
      { id: `${long}y` },
      { id: "q", metadata: { k: { __proto__: null, constructor: "c" } } },
      { id: "q", metadata: { k: "null" } },
      { id: "q" },
      { id: "q", metadata: { k: null } },
    ];
    for (const node of nodes) world.connect(variant, node).ask(flagUrl, "x");
    await world.settle();
    // The last two nodes have no value for the field, so they are one tenant.
    expect(world.relay.tenants()).toHaveLength(nodes.length - 1);
  },
);
