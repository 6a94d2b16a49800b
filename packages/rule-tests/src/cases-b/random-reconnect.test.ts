import type { ResourceType } from "@xdstp/core";
import type { Quirk } from "@xdstp/protocol/server";
import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { isGlob, nameKey } from "@xdstp/uri";
import { describe, expect, it } from "vitest";
import { createWorld, type World } from "../harness/create-world.ts";
import { isCoveredBy } from "../random/model-client.ts";
import { createRandom, type Random } from "../random/random.ts";

const CLUSTERS = "type.googleapis.com/test.Cluster";
const ROUTES = "type.googleapis.com/test.Route";
const typeUrls = [CLUSTERS, ROUTES];
const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, refersTo: [ROUTES] },
  { typeUrl: ROUTES, follows: [{ typeUrl: CLUSTERS, when: "accepted" }] },
];
const forgetful: Quirk = {
  client: "",
  rule: "S-RECON-10",
  difference: "it lists no members of globs",
  reason: "for this test",
  effect: { forgetsGlobMembers: true },
};
const runs = Math.max(20, Math.round(2_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

/** A delta client that loses its stream now and then, and comes back with what it holds. */
interface Client {
  readonly held: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly wanted: ReadonlyMap<string, ReadonlySet<string>>;
  reconnect(): void;
  change(typeUrl: string, add: readonly string[], drop: readonly string[]): void;
  /** Reads one response; false: there is none. */
  receive(): boolean;
  /** Accepts all that was read; false: nothing was. */
  answer(): boolean;
}

function createClient(world: World, listsMembers: boolean): Client {
  const held = new Map(typeUrls.map((typeUrl) => [typeUrl, new Map<string, string>()]));
  const wanted = new Map(typeUrls.map((typeUrl) => [typeUrl, new Set<string>()]));
  let call = world.openDelta(CLUSTERS);
  let open: DeltaDiscoveryResponse[] = [];
  let asked = new Set<string>();
  const of = <V>(map: ReadonlyMap<string, V>, typeUrl: string): V => {
    const value = map.get(typeUrl);
    if (value === undefined) throw new Error(typeUrl);
    return value;
  };
  /** By a glob only: such a member is what a forgetful client leaves out. */
  const isListed = (typeUrl: string, name: string): boolean =>
    listsMembers ||
    isCoveredBy(new Set([...of(wanted, typeUrl)].filter((one) => !isGlob(one))), name);
  const begin = (typeUrl: string): void => {
    const names = of(wanted, typeUrl);
    if (names.size === 0) return;
    asked.add(typeUrl);
    const map = [...of(held, typeUrl)].filter(([name]) => isListed(typeUrl, name));
    call.client.send({
      typeUrl,
      resourceNamesSubscribe: [...names],
      initialResourceVersions: Object.fromEntries(map),
    });
  };
  const remove = (typeUrl: string, name: string): void => {
    const mine = of(held, typeUrl);
    if (!isGlob(name)) {
      mine.delete(nameKey(name));
      return;
    }
    const others = new Set([...of(wanted, typeUrl)].filter((other) => other !== nameKey(name)));
    for (const one of [...mine.keys()])
      if (isCoveredBy(new Set([name]), one) && !isCoveredBy(others, one)) mine.delete(one);
  };
  return {
    held,
    wanted,
    reconnect() {
      call.stream.cancel();
      call = world.openDelta(CLUSTERS);
      open = [];
      asked = new Set();
      typeUrls.forEach(begin);
    },
    change(typeUrl, add, drop) {
      const names = of(wanted, typeUrl);
      for (const name of add) names.add(nameKey(name));
      for (const name of drop) names.delete(nameKey(name));
      for (const name of [...of(held, typeUrl).keys()])
        if (!isCoveredBy(names, name)) of(held, typeUrl).delete(name);
      if (asked.has(typeUrl))
        call.client.send({
          typeUrl,
          resourceNamesSubscribe: [...add],
          resourceNamesUnsubscribe: [...drop],
        });
      else begin(typeUrl);
    },
    receive() {
      if (call.stream.unread === 0) return false;
      const response = call.client.next();
      open.push(response);
      const { typeUrl, resources, removedResources } = response;
      for (const { name, version } of resources)
        if (isCoveredBy(of(wanted, typeUrl), name)) of(held, typeUrl).set(nameKey(name), version);
      for (const name of removedResources) remove(typeUrl, name);
      return true;
    },
    answer() {
      const answered = open;
      open = [];
      for (const response of answered) call.client.ack(response);
      return answered.length > 0;
    },
  };
}

const typeName = (typeUrl: string): string => typeUrl.slice(typeUrl.indexOf("/") + 1);

function stored(random: Random, typeUrl: string): string {
  return random.below(2) === 0
    ? `c${random.below(5)}`
    : `xdstp://a/${typeName(typeUrl)}/${random.pick(["p", "q"])}/${random.below(4)}`;
}

function wantedName(random: Random, typeUrl: string): string {
  switch (random.below(6)) {
    case 0:
      return "*";
    case 1:
      return `xdstp://a/${typeName(typeUrl)}/p/*`;
    case 2:
      return `xdstp://a/${typeName(typeUrl)}/q/*`;
    default:
      return stored(random, typeUrl);
  }
}

function run(seed: number, listsMembers: boolean): void {
  const random = createRandom(seed);
  const world = createWorld({
    variant: "delta/ads",
    types,
    quirks: listsMembers ? [] : [forgetful],
  });
  const clients = [1, 2].map(() => createClient(world, listsMembers));
  const truth = new Map(typeUrls.map((typeUrl) => [typeUrl, new Map<string, string>()]));
  let version = 0;
  const commit = (): void => {
    const typeUrl = random.pick(typeUrls);
    const name = stored(random, typeUrl);
    if (random.below(3) > 0) {
      world.put(typeUrl, name, `${++version}`, { version: `v${version}` });
      truth.get(typeUrl)?.set(name, `v${version}`);
    } else {
      world.remove(typeUrl, name);
      truth.get(typeUrl)?.delete(name);
    }
  };
  const step = (client: Client): void => {
    const typeUrl = random.pick(typeUrls);
    switch (random.below(8)) {
      case 0:
      case 1:
        commit();
        return;
      case 2: {
        const add = [wantedName(random, typeUrl)];
        client.change(
          typeUrl,
          add,
          random.below(2) === 0
            ? []
            : [wantedName(random, typeUrl)].filter((name) => !add.includes(name)),
        );
        return;
      }
      case 3:
        world.turns.turn();
        return;
      case 4:
      case 5:
        client.receive();
        return;
      case 6:
        client.answer();
        return;
      default:
        if (random.below(4) === 0) client.reconnect();
    }
  };
  for (let n = 0; n < 300; n++) step(random.pick(clients));
  const settle = (): void => {
    let busy = true;
    while (busy) {
      world.run();
      busy =
        clients.filter((client) => {
          let any = false;
          while (client.receive()) any = true;
          return client.answer() || any;
        }).length > 0;
    }
  };
  settle();
  for (const client of clients) client.reconnect();
  settle();
  for (const [index, client] of clients.entries()) {
    for (const typeUrl of typeUrls) {
      const expected = [...(truth.get(typeUrl) ?? [])].filter(([name]) =>
        isCoveredBy(client.wanted.get(typeUrl) ?? new Set(), name),
      );
      const lines = (pairs: Iterable<readonly [string, string]>): readonly string[] =>
        [...pairs].map(([name, held]) => `${name}=${held}`).sort();
      expect(
        lines(client.held.get(typeUrl) ?? []),
        `seed ${seed}: client ${index} ${typeUrl}`,
      ).toEqual(lines(expected));
    }
  }
}

describe("random streams that break", () => {
  it("leave a client that lists what it holds with exactly what there is (delta/ads) [S-RECON-4] [S-RECON-6]", () => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, true);
  });

  it("leave a client that leaves members of globs out with exactly what there is (delta/ads) [S-RECON-10]", () => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, false);
  });
});
