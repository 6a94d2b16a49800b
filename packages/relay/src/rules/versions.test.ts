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

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it("a version that comes again with other bytes is told apart, counted and shown: who held the first has the second, also after a reconnect [B-VER-5]", async () => {
    const world = useWorld({ upstream });
    const name = flagName("a");
    const client = world.connect(downstream);
    client.ask(flagUrl, name);
    await world.settle();
    world.up.reply(flagUrl, { version: "1", resources: [{ name, text: "first" }] });
    await world.settle();
    const [first] = client.take();
    expect(first?.resources.map(({ version }) => version)).toEqual(["1"]);
    world.up.reply(flagUrl, { version: "1", resources: [{ name, text: "second" }] });
    await world.settle();
    const [second] = client.take();
    expect([second?.shown, second?.resources[0]?.version]).toEqual([
      ["a=second"],
      expect.stringMatching(/^1~./),
    ]);
    expect([
      world.relay.cache.counters.reusedVersions,
      world.events.filter(({ kind }) => kind === "version-reused").length,
    ]).toEqual([1, 1]);
    const again = world.connect(downstream);
    const before =
      downstream === "delta"
        ? { resourceNamesSubscribe: [name], initialResourceVersions: { [name]: "1" } }
        : { resourceNames: [name], versionInfo: first?.version ?? "" };
    again.send({ typeUrl: flagUrl, ...before });
    await world.settle();
    expect(again.take().map(({ shown }) => shown)).toEqual([["a=second"]]);
  });
});

it.each(["delta", "sotw"] as const)(
  "that a response upstream is a canary is shown, and passed on to nobody (%s) [B-VER-8]",
  async (downstream) => {
    const world = useWorld({ upstream: "sotw" });
    const client = world.connect(downstream);
    client.ask(flagUrl, flagName("a"));
    await world.settle();
    world.up.reply(flagUrl, { canary: true, resources: [{ name: flagName("a"), text: "1" }] });
    await world.settle();
    expect(
      world.relay.federation
        .status()
        .flatMap(({ status }) => status?.types.map(({ canary }) => canary)),
    ).toEqual([true]);
    expect(client.take().map(({ shown, canary }) => [shown, canary])).toEqual([
      [["a=1"], undefined],
    ]);
  },
);

it.each(["delta", "sotw"] as const)(
  "what has no version of its own upstream has that of its content, so that another `version_info` is not an update (%s) [B-RELAY-3] [S-VER-4]",
  async (downstream) => {
    const world = useWorld({ upstream: "sotw" });
    const client = world.connect(downstream);
    client.ask(clusterUrl, cluster("a"));
    await world.settle();
    const bare = (text: string): WireResource => ({
      name: "",
      version: "",
      any: clusterAny("a", text),
      bare: true,
    });
    world.up.reply(clusterUrl, { version: "1", resources: [bare("1")] });
    await world.settle();
    const [first] = client.take();
    world.up.reply(clusterUrl, { version: "2", resources: [bare("1")] });
    await world.settle();
    expect([first?.resources.length, client.read()]).toEqual([1, []]);
    world.up.reply(clusterUrl, { version: "3", resources: [bare("2")] });
    await world.settle();
    const [updates] = client.take();
    expect(updates?.resources.map(({ any }) => any)).toEqual([clusterAny("a", "2")]);
    expect(updates?.version).not.toBe(first?.version);
  },
);
