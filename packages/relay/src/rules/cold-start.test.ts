import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { describe, expect, it } from "vitest";

import { useWorld } from "../../test/relay-world.ts";
import { anyOf } from "../../../rollout/test/wire-bytes.ts";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const cluster = (name: string): string => `xdstp://acme/envoy.config.cluster.v3.Cluster/${name}`;
const clusterAny = (name: string, text: string): Uint8Array =>
  anyOf(clusterUrl, concatBytes([lengthDelimited(1, cluster(name)), lengthDelimited(4_000, text)]));
const HOUR = 3_600_000;
const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);

const listenerUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";
const opaqueAny = (typeUrl: string, name: string): Uint8Array =>
  anyOf(typeUrl, lengthDelimited(1, name));

describe.each(ways)(
  "%s upstream, %s downstream: a relay that starts while upstream is away",
  (upstream, downstream) => {
    it.each([
      ["all clusters", clusterUrl, []],
      ["all listeners", listenerUrl, []],
      ["a cluster", clusterUrl, ["a"]],
      ["a listener", listenerUrl, ["a"]],
    ] as const)(
      "answers who asks for %s when upstream has, and never without it [S-STREAM-9] [B-RELAY-15]",
      async (_, typeUrl, names) => {
        const world = useWorld({ upstream, relay: { opaqueKey: [] } });
        world.up.down = true;
        const client = world.connect(downstream);
        client.ask(typeUrl, ...names);
        await world.pass(HOUR);
        expect([client.read(), client.closed]).toEqual([[], undefined]);
        world.up.down = false;
        while (world.up.calls.length === 0) await world.pass(1_000);
        world.up.reply(typeUrl, {
          resources: [{ name: "a", version: "1", any: opaqueAny(typeUrl, "a") }],
        });
        await world.pass(200);
        expect(client.read().map(({ resources }) => resources.map(({ any }) => any))).toEqual([
          [opaqueAny(typeUrl, "a")],
        ]);
      },
    );
  },
);

describe("a type of full state of which upstream has said a part", () => {
  const useHalf = async (
    versionInfo: string,
  ): Promise<{
    readonly world: ReturnType<typeof useWorld>;
    readonly client: ReturnType<ReturnType<typeof useWorld>["connect"]>;
  }> => {
    const world = useWorld();
    const client = world.connect("sotw");
    client.send({
      typeUrl: clusterUrl,
      ...{ resourceNames: [cluster("a"), cluster("b")], versionInfo },
    });
    await world.settle();
    world.up.reply(clusterUrl, {
      resources: [{ name: cluster("a"), version: "1", any: clusterAny("a", "1") }],
    });
    await world.pass(9_999);
    expect(client.read()).toEqual([]);
    return { world, client };
  };

  it("is told to a client that holds nothing after 10 s [B-RELAY-15] [S-STREAM-9]", async () => {
    const { world, client } = await useHalf("");
    await world.pass(1);
    expect(client.read().map(({ resources }) => resources.map(({ any }) => any))).toEqual([
      [clusterAny("a", "1")],
    ]);
  });

  it("is not told to one that may hold the rest, before all is known [B-RELAY-15] [S-STREAM-9]", async () => {
    const { world, client } = await useHalf("of before");
    await world.pass(4_000);
    expect(client.read()).toEqual([]);
    world.up.reply(clusterUrl, {
      resources: [{ name: cluster("b"), version: "1", any: clusterAny("b", "1") }],
    });
    await world.settle();
    expect(client.read().map(({ resources }) => resources.map(({ any }) => any))).toEqual([
      [clusterAny("a", "1"), clusterAny("b", "1")],
    ]);
  });
});
