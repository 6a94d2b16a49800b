import { encodeConstraints, matchesConstraints, type Constraints } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import type { Answer, AnswerResource } from "../harness/answer.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { payloadOf, textIn } from "../harness/payload.ts";
import type { Peer } from "../harness/peer.ts";
import type { Wanted } from "../harness/type-client.ts";
import { adsVariants, isDelta, type Variant } from "../harness/variant.ts";
import { createRandom, type Random } from "./random.ts";

const runs = Math.max(6, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const SIDES = ["mine", "others"] as const;
const CLUSTERS = "t/cluster";
const ROUTES = "t/route";
const LISTENERS = "t/listener";
/** A route names its cluster in its text. The removal of a route waits until the listener is accepted. */
const types = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  {
    typeUrl: ROUTES,
    fullStateInSotw: true,
    refersTo: [LISTENERS],
    follows: [{ typeUrl: CLUSTERS, when: "accepted" as const }],
    references: (payload: Uint8Array) => [{ typeUrl: CLUSTERS, name: textIn(payload) }],
  },
  { typeUrl: LISTENERS },
];

/** Variants for the clients of `a=1`, and for the others. */
interface Split {
  readonly mine: Constraints | undefined;
  readonly others: Constraints | undefined;
}

const is = (value: string): Constraints => ({ kind: "equals", key: "a", value });
const not = (of: Constraints): Constraints => ({ kind: "not", of });
const everyone: Split = { mine: undefined, others: undefined };
const splits: readonly Split[] = [
  everyone,
  { mine: is("1"), others: not(is("1")) },
  { mine: not(is("2")), others: is("2") },
];

/** A route: its variants, and their clusters. */
interface Route {
  readonly split: Split;
  readonly mine: string;
  readonly others: string;
}

/** The source: whole at each revision. */
class Truth {
  readonly routes = new Map<string, Route>();
  readonly clusters = new Set<string>();

  commit({ cache }: World, random: Random): void {
    cache.transaction((writer) => {
      if (random.below(2) === 0) {
        const value = payloadOf("l", `${cache.revision}`);
        writer.put({ typeUrl: LISTENERS, name: "l", value });
      }
      const name = `r${random.below(3)}`;
      const old = this.routes.get(name);
      const options = (one: Constraints | undefined): { constraints?: Uint8Array } =>
        one === undefined ? {} : { constraints: encodeConstraints(one) };
      const next = random.below(5) === 0 ? undefined : this.#route(random);
      for (const one of new Set(old && [old.split.mine, old.split.others]))
        if (next === undefined || next.split !== old?.split)
          writer.remove(ROUTES, name, options(one));
      if (next === undefined) this.routes.delete(name);
      else {
        this.routes.set(name, next);
        for (const side of next.split === everyone ? (["mine"] as const) : SIDES)
          writer.put({
            typeUrl: ROUTES,
            name,
            value: payloadOf(name, next[side]),
            ...options(next.split[side]),
          });
      }
      const inUse = new Set(
        [...this.routes.values()].flatMap(({ mine, others }) => [mine, others]),
      );
      for (const cluster of inUse)
        if (!this.clusters.has(cluster)) {
          this.clusters.add(cluster);
          writer.put({ typeUrl: CLUSTERS, name: cluster, value: payloadOf(cluster) });
        }
      for (const cluster of this.clusters)
        if (!inUse.has(cluster)) {
          this.clusters.delete(cluster);
          writer.remove(CLUSTERS, cluster);
        }
    });
  }

  #route(random: Random): Route {
    const split = random.pick(splits);
    const mine = `c${random.below(5)}`;
    return { split, mine, others: split === everyone ? mine : `c${random.below(5)}` };
  }
}

/** A client that has sent no parameters reads variants of SotW responses, too. */
const node = { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] };

type Parameters = Readonly<Record<string, string>>;

/** The clients: the last one sends no parameters. */
const clientsOf: readonly Parameters[] = [{ a: "1" }, { a: "2" }, {}];

/** The cluster of a route that a client with these parameters is shown; undefined: the route has no variant for it. */
function clusterFor({ split, mine, others }: Route, parameters: Parameters): string | undefined {
  const isFor = (one: Constraints | undefined): boolean =>
    one === undefined || matchesConstraints(one, new Map(Object.entries(parameters)));
  return isFor(split.mine) ? mine : isFor(split.others) ? others : undefined;
}

/** A client of all clusters, the listener, and the variants of all routes that match its parameters. */
class Client {
  /** By variant of a route, as `r{a=1}`. */
  readonly routes = new Map<string, AnswerResource>();
  readonly clusters = new Map<string, AnswerResource>();
  readonly parameters: Parameters;
  readonly #world: World;
  readonly #open: Answer[] = [];
  #peer: Peer;

  constructor(world: World, parameters: Parameters) {
    this.#world = world;
    this.parameters = parameters;
    this.#peer = this.#connect();
  }

  /** Loses its stream, and comes back with what it has. */
  reconnect(): void {
    this.#peer.leave();
    this.#open.length = 0;
    this.#peer = this.#connect();
  }

  read(): boolean {
    const answers = this.#peer.answers();
    for (const answer of answers) {
      this.#apply(answer);
      this.#open.push(answer);
      this.#inspect();
    }
    return answers.length > 0;
  }

  answer(): boolean {
    const answer = this.#open.shift();
    if (answer !== undefined) this.#peer.of(answer.typeUrl).ack(answer);
    return answer !== undefined;
  }

  #connect(): Peer {
    const peer = this.#world.connect({ node });
    const dynamicParameters = this.parameters;
    const routes: Wanted =
      Object.keys(dynamicParameters).length === 0 ? "*" : { name: "*", dynamicParameters };
    peer.of(CLUSTERS).change({ add: ["*"], held: versionsOf(this.clusters) });
    peer.of(ROUTES).change({ add: [routes], held: versionsOf(this.routes) });
    peer.of(LISTENERS).subscribe("*");
    return peer;
  }

  #apply({ typeUrl, resources, removed }: Answer): void {
    if (typeUrl === LISTENERS) return;
    const held = typeUrl === CLUSTERS ? this.clusters : this.routes;
    if (!isDelta(this.#world.variant)) held.clear();
    for (const name of removed) held.delete(name);
    for (const resource of resources) {
      const { name, variant } = resource;
      held.set(variant === undefined ? name : `${name}{${variant}}`, resource);
    }
  }

  /** One variant of each name at most, and no route without its cluster. */
  #inspect(): void {
    const names = Array.from(this.routes.values(), ({ name }) => name);
    expect(new Set(names).size, [...this.routes.keys()].join(" ")).toBe(names.length);
    for (const [key, { text: cluster }] of this.routes)
      expect(this.clusters.has(cluster), `${key} points at ${cluster}`).toBe(true);
  }
}

function versionsOf(held: ReadonlyMap<string, AnswerResource>): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(held.values(), ({ name, version }) => [name, version]));
}

function run(seed: number, variant: Variant, reconnects: boolean): void {
  const random = createRandom(seed);
  const world = createWorld({ variant, types });
  const truth = new Truth();
  truth.commit(world, random);
  const clients = clientsOf.map((parameters) => new Client(world, parameters));
  for (let step = 0; step < 150; step++) {
    const client = random.pick(clients);
    const kind = random.below(6);
    if (kind === 0) truth.commit(world, random);
    else if (kind < 3) world.turns.turn();
    else if (kind < 5) client.answer();
    else if (reconnects && random.below(6) === 0) client.reconnect();
    else client.read();
  }
  for (let isBusy = true; isBusy;) {
    world.run();
    isBusy = clients.map((client) => client.read() || client.answer()).includes(true);
  }
  for (const [index, { routes, clusters, parameters }] of clients.entries()) {
    const held = Array.from(routes.values(), ({ name, text }) => `${name}=${text}`);
    const wanted = [...truth.routes].flatMap(([name, route]) => {
      const cluster = clusterFor(route, parameters);
      return cluster === undefined ? [] : `${name}=${cluster}`;
    });
    expect(held.toSorted(), `routes of client ${index}`).toEqual(wanted.toSorted());
    expect([...clusters.keys()].toSorted(), "clusters").toEqual([...truth.clusters].toSorted());
  }
  expect(world.events.filter(({ kind }) => kind === "order-expired")).toEqual([]);
}

function runSeeds(variant: Variant, reconnects: boolean): void {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++)
    try {
      run(seed, variant, reconnects);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
}

describe("variants that wait for clusters, at random", () => {
  it.each(adsVariants)(
    "replace each other in one response, and none is missed (%s) [S-DYN-5] [S-ORD-2] [S-ORD-3]",
    (variant) => {
      runSeeds(variant, false);
    },
  );

  it("are the same for clients that come back with what they have (delta/ads) [S-DYN-5] [S-RECON-4]", () => {
    runSeeds("delta/ads", true);
  });
});

describe("variants that wait for clusters, at a seed that once went wrong", () => {
  it("keep the cluster of a route whose removal waits, also where a variant of the route goes before it (delta/ads, seed 259) [S-DYN-5] [S-ORD-3]", () => {
    run(259, "delta/ads", false);
  });
});
