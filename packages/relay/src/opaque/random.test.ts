import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import {
  createTenantWorld,
  OWN,
  type TenantClient,
  type TenantWorld,
} from "../../test/tenant-world.ts";
import { isOpaque } from "./create-tenants.ts";

const SEEDS = Math.max(10, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const CLUSTERS = ["web", "db", "batch"];
const NAMES = ["a", "b", "c", flagName("x"), flagName("y")];
const watcher = { wake: () => undefined };

/**
 * Makes one random step: the control plane changes a resource, a client subscribes or unsubscribes,
 * or a stream breaks.
 */
function act({ random, network, clients, originOf }: TenantWorld, step: number): void {
  const [name, client] = [random.pick(NAMES), random.pick(clients)];
  const origin = originOf(isOpaque(name) ? random.pick(CLUSTERS) : OWN);
  switch (random.below(7)) {
    case 0:
    case 1:
      origin.put({ typeUrl: flagUrl, name, value: Buffer.from(String(step)) });
      return;
    case 2:
      origin.remove(flagUrl, name);
      return;
    case 3:
    case 4:
      watch(client, name);
      return;
    case 5:
      for (const topic of client.watched.values()) topic.unwatch(watcher);
      client.watched.clear();
      return;
    default:
      if (network.connections.length > 0)
        random.pick(network.connections).cut(random.pick(["both", "neither"]));
  }
}

function watch({ cache, watched }: TenantClient, name: string): void {
  const topic = watched.get(name) ?? cache.topic(flagUrl, { name });
  topic.watch(watcher);
  watched.set(name, topic);
}

/**
 * Returns, for each watched name that upstream has, the state that the client sees and the expected
 * one. Removals are left out, since SotW cannot report them.
 */
function results({
  clients,
  relay,
  originOf,
}: TenantWorld): readonly (readonly [what: string, shown: string, expected: string])[] {
  const waiting = new Set(
    relay.tenants().flatMap(({ values, waiting: waits }) => (waits ? [values.cluster] : [])),
  );
  return clients.flatMap(({ cluster, watched }) =>
    [...watched].flatMap(([name, topic]) => {
      const [truth] = originOf(isOpaque(name) ? cluster : OWN)
        .topic(flagUrl, { name })
        .members();
      if (truth?.resource === undefined || (isOpaque(name) && waiting.has(cluster))) return [];
      const shown = topic.members()[0]?.resource?.payload.value ?? "";
      return [
        [
          `${name} for ${cluster}`,
          shown.toString(),
          truth.resource.payload.value.toString(),
        ] as const,
      ];
    }),
  );
}

it(`clients of all keys end with what upstream has for them, whatever happens between (${SEEDS} seeds) [B-RELAY-2]`, async () => {
  let seen = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = createTenantWorld(seed, CLUSTERS);
    for (let step = 0; step < 60; step++) {
      act(world, step);
      await world.pass(world.random.pick([0, 10, 1_000, 30_000]));
    }
    await world.pass(600_000);
    const all = results(world);
    expect({ seed, wrong: all.filter(([, shown, expected]) => shown !== expected) }).toEqual({
      seed,
      wrong: [],
    });
    seen += all.length;
    for (const { cache } of world.clients) await cache.close();
    await world.relay.close();
  }
  expect(seen).toBeGreaterThan(SEEDS);
});
