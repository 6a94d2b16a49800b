import type { Topic } from "@xdstp/core";
import { lengthDelimited } from "@xdstp/core/wire";
import { expect, it } from "vitest";

import { flag, flagName, flagUrl } from "../test/flag.ts";
import { useWorld, type RelayWorld } from "../test/relay-world.ts";
import { useDir } from "../../snapshot/test/snapshots.ts";
import type { RelayOptions } from "./index.ts";
import {
  useClient,
  useOrigin,
  useRelay,
  type Origin,
  type ServedRelay,
} from "../test/use-relay.ts";
import { anyOf } from "../../rollout/test/wire-bytes.ts";

const HOUR = 3_600_000;
const shop = flagName("shop/*");

type Flags = Readonly<Record<string, string>>;

function publish({ cache }: Origin, flags: Flags): void {
  for (const [id, text] of Object.entries(flags))
    cache.put({
      typeUrl: flagUrl,
      name: flagName(`shop/${id}`),
      value: Buffer.from(text),
      version: `v-${text}`,
      metadata: Buffer.of(10, 0),
    });
}

/** Resolves when a new client has exactly these flags. */
async function clientHas({ uri }: ServedRelay, flags: Flags): Promise<void> {
  const client = useClient([uri]);
  const wanted = JSON.stringify(Object.entries(flags).sort());
  const found = new Map<string, string>();
  for await (const { added, updated, removed } of client.watchAll(flag, shop)) {
    for (const { name, value } of [...added, ...updated])
      found.set(name.slice(flagName("shop/").length), value);
    for (const name of removed) found.delete(name.slice(flagName("shop/").length));
    if (JSON.stringify([...found].sort()) === wanted) break;
  }
  await client.close();
}

/** Resolves when a new client has this value of `shop/a`. */
async function clientReads({ uri }: ServedRelay, text: string): Promise<void> {
  const client = useClient([uri]);
  for await (const { value } of client.watch(flag, flagName("shop/a"))) if (value === text) break;
  await client.close();
}

function portOf({ uri }: Origin): number {
  return Number(uri.slice(uri.lastIndexOf(":") + 1));
}

function topicOf({ relay }: ServedRelay): Topic {
  return relay.cache.topic(flagUrl, { name: shop });
}

function wires(relay: ServedRelay): readonly string[] {
  return topicOf(relay)
    .members()
    .map(({ resource }) => Buffer.from(resource?.wire ?? []).toString("base64"))
    .sort();
}

it("a relay that is restarted while its origin is down serves the same bytes at once, marked as stale, and goes on with what the origin has when it is back [B-RELAY-9]", async () => {
  const dir = useDir();
  const origin = await useOrigin();
  publish(origin, { a: "1", b: "1" });
  const first = await useRelay([origin.uri], { snapshot: { dir } });
  await clientHas(first, { a: "1", b: "1" });
  const before = wires(first);
  await first.close();
  await origin.close();

  const second = await useRelay([origin.uri], { snapshot: { dir } });
  await clientHas(second, { a: "1", b: "1" });
  expect([wires(second), before.length]).toEqual([before, 2]);
  expect(topicOf(second).stale?.text).toMatch(/from the snapshot of \d{4}-\d\d-\d\dT/);

  const back = await useOrigin(portOf(origin));
  publish(back, { a: "2", c: "1" });
  await clientHas(second, { a: "2", c: "1" });
  expect(topicOf(second).stale).toBeUndefined();
  await second.close();
  await back.close();

  const third = await useRelay([origin.uri], { snapshot: { dir } });
  await clientHas(third, { a: "2", c: "1" });
});

it("does so for single names with a SotW upstream too [B-RELAY-9]", async () => {
  const dir = useDir();
  const origin = await useOrigin();
  publish(origin, { a: "1" });
  const options: RelayOptions = { snapshot: { dir }, variant: "sotw" };
  const first = await useRelay([origin.uri], options);
  await clientReads(first, "1");
  await first.close();
  await origin.close();
  const second = await useRelay([origin.uri], options);
  await clientReads(second, "1");
  const back = await useOrigin(portOf(origin));
  publish(back, { a: "2" });
  await clientReads(second, "2");
});

it("after a restart the status says how old what is served in the place of each upstream is, by the snapshot, until that upstream answers [B-RELAY-9]", async () => {
  const dir = useDir();
  const worldOf = (): RelayWorld =>
    useWorld({ servers: 2, authorities: { acme: 0, edge: 1 }, relay: { snapshot: { dir } } });
  const [name, edge] = [flagName("a"), "xdstp://edge/acme.v1.Flag/a"];
  const first = worldOf();
  first.connect("delta").ask(flagUrl, name, edge);
  await first.settle();
  first.upstreams[0]?.reply(flagUrl, { resources: [{ name, text: "1" }] });
  await first.pass(5_000);
  first.upstreams[1]?.reply(flagUrl, { resources: [{ name: edge, text: "1" }] });
  await first.settle();
  const [start, stored] = [first.clock.now() - 5_000, first.clock.now()];
  await first.relay.close();
  const again = worldOf();
  for (const server of again.upstreams) server.down = true;
  await again.pass(HOUR);
  const client = again.connect("delta");
  client.ask(flagUrl, name, edge);
  const staleSince = (): readonly unknown[] =>
    again.relay.status().upstreams.map((upstream) => upstream.staleSince);
  expect(staleSince()).toEqual([undefined, undefined]);
  await again.pass(1_000);
  expect([client.take().flatMap(({ shown }) => shown), staleSince()]).toEqual([
    ["a=1", "a=1"],
    [start, stored],
  ]);
  for (const server of again.upstreams) server.down = false;
  while (again.up.calls.length === 0) await again.pass(1_000);
  again.up.reply(flagUrl, { resources: [{ name, text: "1" }] });
  await again.settle();
  expect(staleSince()).toEqual([undefined, stored]);
});

it("what is served from the snapshot while a SotW upstream is silent goes with the first full state that comes without it, however late [B-RELAY-9] [B-RELAY-10] [C-FULL-3]", async () => {
  const dir = useDir();
  const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const [a, b] = ["a", "b"].map((id) => `xdstp://acme/envoy.config.cluster.v3.Cluster/${id}`) as [
    string,
    string,
  ];
  const clusterOf = (name: string) => ({
    name,
    version: "1",
    any: anyOf(clusterUrl, lengthDelimited(1, name)),
  });
  const worldOf = (): RelayWorld => useWorld({ upstream: "sotw", relay: { snapshot: { dir } } });
  const first = worldOf();
  first.connect("delta").ask(clusterUrl, a, b);
  await first.settle();
  first.up.reply(clusterUrl, { resources: [clusterOf(a), clusterOf(b)] });
  await first.settle();
  await first.relay.close();

  const again = worldOf();
  const client = again.connect("delta");
  client.ask(clusterUrl, a, b);
  await again.pass(30_000);
  expect(
    client
      .take()
      .map(({ resources, removed }) => [resources.map(({ name }) => name).sort(), removed]),
  ).toEqual([[[a, b], []]]);
  again.up.reply(clusterUrl, { resources: [clusterOf(a)] });
  await again.settle();
  expect(
    client.take().map(({ resources, removed }) => [resources.map(({ name }) => name), removed]),
  ).toEqual([[[], [b]]]);
  expect(again.relay.cache.topic(clusterUrl, { name: a }).stale).toBeUndefined();
});
