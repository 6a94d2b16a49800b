import { encodeConstraints, type Constraints } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import type { Answer } from "../harness/answer.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { payloadOf, textIn } from "../harness/payload.ts";
import type { Peer } from "../harness/peer.ts";
import { adsVariants, isDelta, type Variant } from "../harness/variant.ts";
import { createRandom, type Random } from "./random.ts";

const runs = Math.max(6, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const SIDES = ["mine", "others"] as const;
const CLUSTERS = "t/cluster";
const ROUTES = "t/route";
/** A route names its cluster in its text. */
const types = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  {
    typeUrl: ROUTES,
    fullStateInSotw: true,
    follows: [{ typeUrl: CLUSTERS, when: "accepted" as const }],
    references: (payload: Uint8Array) => [{ typeUrl: CLUSTERS, name: textIn(payload) }],
  },
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

/** A client of all clusters and of the variants of all routes that match its parameters. */
class Client {
  /** Clusters by variant of a route, as `r{a=1}`. */
  readonly routes = new Map<string, string>();
  readonly clusters = new Set<string>();
  readonly side: "mine" | "others";
  readonly #peer: Peer;
  readonly #world: World;
  readonly #open: Answer[] = [];

  constructor(world: World, side: "mine" | "others") {
    this.#world = world;
    this.side = side;
    this.#peer = world.connect();
    this.#peer.of(CLUSTERS).subscribe("*");
    this.#peer
      .of(ROUTES)
      .subscribe({ name: "*", dynamicParameters: { a: side === "mine" ? "1" : "2" } });
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

  #apply({ typeUrl, resources, removed }: Answer): void {
    const isFull = !isDelta(this.#world.variant);
    if (typeUrl === CLUSTERS) {
      if (isFull) this.clusters.clear();
      for (const name of removed) this.clusters.delete(name);
      for (const { name } of resources) this.clusters.add(name);
      return;
    }
    if (isFull) this.routes.clear();
    for (const name of removed) this.routes.delete(name);
    for (const { name, variant, text } of resources)
      this.routes.set(variant === undefined ? name : `${name}{${variant}}`, text);
  }

  /** One variant of each name at most, and no route without its cluster. */
  #inspect(): void {
    const names = [...this.routes.keys()].map((key) => key.replace(/\{.*/, ""));
    expect(new Set(names).size, [...this.routes.keys()].join(" ")).toBe(names.length);
    for (const [key, cluster] of this.routes)
      expect(this.clusters.has(cluster), `${key} points at ${cluster}`).toBe(true);
  }
}

function run(seed: number, variant: Variant): void {
  const random = createRandom(seed);
  const world = createWorld({ variant, types });
  const truth = new Truth();
  truth.commit(world, random);
  const clients = (["mine", "others", "mine"] as const).map((side) => new Client(world, side));
  for (let step = 0; step < 150; step++) {
    const client = random.pick(clients);
    const kind = random.below(6);
    if (kind === 0) truth.commit(world, random);
    else if (kind < 3) world.turns.turn();
    else if (kind < 5) client.answer();
    else client.read();
  }
  for (let isBusy = true; isBusy;) {
    world.run();
    isBusy = clients.map((client) => client.read() || client.answer()).includes(true);
  }
  for (const { routes, side, clusters } of clients) {
    const held = [...routes].map(([key, cluster]) => `${key.replace(/\{.*/, "")}=${cluster}`);
    const wanted = [...truth.routes].map(([name, route]) => `${name}=${route[side]}`);
    expect(held.toSorted(), `${side} routes`).toEqual(wanted.toSorted());
    expect([...clusters].toSorted(), "clusters").toEqual([...truth.clusters].toSorted());
  }
  expect(world.events.filter(({ kind }) => kind === "order-expired")).toEqual([]);
}

describe("variants that wait for clusters, at random", () => {
  it.each(adsVariants)(
    "replace each other in one response, and none is missed (%s) [S-DYN-5] [S-ORD-2] [S-ORD-3]",
    (variant) => {
      for (let seed = firstSeed; seed < firstSeed + runs; seed++)
        try {
          run(seed, variant);
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
    },
  );
});
