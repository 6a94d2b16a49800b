import {
  encodeConstraints,
  matchesConstraints,
  readConstraints,
  textOfConstraints,
  type Constraints,
  type Put,
} from "@xdstp/core";
import { filterSource, type Policy } from "@xdstp/policy";
import { describe, expect, it } from "vitest";
import type { Answer } from "../harness/answer.ts";
import { createWorld, type World } from "../harness/create-world.ts";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf, textIn } from "../harness/payload.ts";
import type { TypeClient, Wanted } from "../harness/type-client.ts";
import { isDelta, type Variant } from "../harness/variant.ts";
import { createRandom, type Random } from "./random.ts";

const runs = Math.max(4, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const is = (key: string, value: string): Constraints => ({ kind: "equals", key, value });
const not = (of: Constraints): Constraints => ({ kind: "not", of });
/** Constraints of which two often match together, and often not. */
const pool: readonly (Constraints | undefined)[] = [
  undefined,
  is("a", "1"),
  is("a", "2"),
  not(is("a", "1")),
  not({ kind: "or", of: [is("a", "1"), is("a", "2")] }),
  is("b", "1"),
  not(is("b", "1")),
];
const sets: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: "1" },
  { a: "2", b: "1" },
  { a: "3" },
];

interface Held {
  readonly name: string;
  readonly constraints: Constraints;
  readonly text: string;
}

const everyone: Constraints = { kind: "and", of: [] };
const byText = new Map(
  pool.map((one) => [one === undefined ? "" : textOfConstraints(one), one ?? everyone]),
);

/** A client that takes what it is told, by name and variant, and forgets what it no longer asks for. */
class Client {
  readonly wanted: Exclude<Wanted, string>[] = [];
  readonly #held = new Map<string, Held>();
  readonly #client: TypeClient;
  readonly #world: World;
  readonly #fullState: boolean;
  #open: Answer | undefined;

  constructor(world: World, typeUrl: string) {
    this.#world = world;
    this.#fullState = typeUrl === FULL && !isDelta(world.variant);
    this.#client = world
      .connect({ node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] } })
      .of(typeUrl);
  }

  get asks(): boolean {
    return this.wanted.length > 0;
  }
  /** Over SotW a request that changes the list is an answer to the response at hand too. */
  get mayChange(): boolean {
    return this.#open === undefined || isDelta(this.#world.variant);
  }

  /** Returns the received variants that a client with these parameters would use. */
  matching(name: string, parameters: ReadonlyMap<string, string>): readonly string[] {
    return [...this.#held.values()]
      .filter((one) => one.name === name && matchesConstraints(one.constraints, parameters))
      .map(({ text }) => text);
  }

  change(add: readonly Exclude<Wanted, string>[], drop: readonly Exclude<Wanted, string>[]): void {
    for (const one of drop) this.wanted.splice(this.wanted.indexOf(one), 1);
    this.wanted.push(...add);
    this.#client.change({ add, drop });
    this.#forget();
  }

  #forget(): void {
    for (const [key, { name, constraints }] of this.#held)
      if (
        !this.wanted.some(
          (one) =>
            (one.name === name || one.name === "*") &&
            matchesConstraints(constraints, new Map(Object.entries(one.dynamicParameters))),
        )
      )
        this.#held.delete(key);
  }

  read(): void {
    if (this.#open !== undefined) return;
    [this.#open] = this.#rest();
  }

  #rest(): readonly Answer[] {
    try {
      return [this.#client.next()];
    } catch {
      return [];
    }
  }

  answer(isGood: boolean): void {
    const answer = this.#open;
    if (answer === undefined) return;
    this.#open = undefined;
    if (!isGood) {
      this.#client.nack(answer, "bad");
      return;
    }
    if (this.#fullState) this.#held.clear();
    for (const removed of answer.removed) this.#held.delete(removed.replace(/^(\w+)$/, "$1{}"));
    for (const { name, variant = "", text } of answer.resources)
      this.#held.set(`${name}{${variant}}`, {
        name,
        text,
        constraints: byText.get(variant) ?? everyone,
      });
    this.#forget();
    this.#client.ack(answer);
  }

  settle(): void {
    do {
      this.#world.run();
      this.read();
      if (this.#open === undefined) return;
      this.answer(true);
    } while (this.asks);
  }
}

function commit(world: World, random: Random, typeUrl: string): void {
  const chosen = new Map<string, readonly [string, Constraints | undefined]>();
  for (let count = 1 + random.below(4); count > 0; count--) {
    const name = random.pick(["n", "m"]);
    const constraints = pool[random.below(pool.length)];
    chosen.set(`${name} ${JSON.stringify(constraints)}`, [name, constraints]);
  }
  const [put, remove] = [true, false].map((wanted) =>
    [...chosen.values()].filter(() => (random.below(2) === 0) === wanted),
  );
  const removed = new Set(remove);
  world.cache.commit({
    put: (put ?? [])
      .filter((one) => !removed.has(one))
      .map(([name, one]) => putOf(typeUrl, name, String(random.below(1_000)), one)),
    remove: (remove ?? []).map(([name, one]) => ({
      typeUrl,
      name,
      ...(one && { constraints: encodeConstraints(one) }),
    })),
  });
}

function putOf(
  typeUrl: string,
  name: string,
  text: string,
  constraints: Constraints | undefined,
): Put {
  return {
    typeUrl,
    resource: {
      name,
      version: "",
      payload: { typeUrl, value: payloadOf(name, text) },
      ...(constraints && { constraints: encodeConstraints(constraints) }),
    },
  };
}

/** Returns the texts that exist under a name for these parameters, by the letter of TP2. */
function expected(
  world: World,
  typeUrl: string,
  name: string,
  parameters: ReadonlyMap<string, string>,
): readonly string[] {
  return world.cache
    .topic(typeUrl, { name, parameters })
    .members()
    .flatMap(({ resource }) => {
      if (resource === undefined) return [];
      const read = readConstraints(resource.constraints ?? new Uint8Array());
      expect("constraints" in read && matchesConstraints(read.constraints, parameters)).toBe(true);
      return [textIn(resource.payload.value)];
    });
}

function run(seed: number, variant: Variant, typeUrl: string, allowsAll: Policy | undefined): void {
  const random = createRandom(seed);
  const world = createWorld({
    variant,
    ...(allowsAll && { source: (cache) => filterSource(cache, allowsAll) }),
  });
  const clients = [
    new Client(world, typeUrl),
    new Client(world, typeUrl),
    new Client(world, typeUrl),
  ];
  const step = (): void => {
    const client = random.pick(clients);
    const kind = random.below(10);
    if (kind < 4) commit(world, random, typeUrl);
    else if (kind < 6) {
      const free = ["n", "m", "*"]
        .flatMap((name) => sets.map((dynamicParameters) => ({ name, dynamicParameters })))
        .filter(
          (one) => !client.wanted.some((other) => JSON.stringify(other) === JSON.stringify(one)),
        );
      const add = free.filter(() => random.below(10) === 0);
      const drop = client.wanted.filter(() => random.below(3) === 0);
      if (
        client.mayChange &&
        add.length + drop.length > 0 &&
        (isDelta(variant) || client.wanted.length + add.length > drop.length)
      )
        client.change(add, drop);
    } else if (kind < 8) world.run();
    else client.read();
    if (kind === 9) client.answer(client !== clients[0] || random.below(5) > 0);
  };
  for (let round = 0; round < 4; round++) {
    for (let count = 0; count < 40; count++) step();
    for (const client of clients) client.settle();
    for (const client of clients.slice(1))
      compare(world, client, typeUrl, `seed ${seed} ${variant} round ${round}`);
  }
  // A rejected resource is sent again only after a change (S-ACK-8): here all of them change.
  const held = [...world.cache.held(typeUrl)];
  world.cache.commit({
    remove: held.map(({ name, constraints }) => ({
      typeUrl,
      name,
      ...(constraints && { constraints }),
    })),
  });
  for (const client of clients) client.settle();
  world.cache.commit({
    put: ["n", "m"].flatMap((name) =>
      whole.map((one, index) => putOf(typeUrl, name, String(index), one)),
    ),
  });
  for (const client of clients) {
    client.settle();
    compare(world, client, typeUrl, `seed ${seed} ${variant} end`);
  }
}

/** Somebody is there for every set of parameters. */
const whole: readonly Constraints[] = [
  is("a", "1"),
  is("a", "2"),
  not({ kind: "or", of: [is("a", "1"), is("a", "2")] }),
];

function compare(world: World, client: Client, typeUrl: string, when: string): void {
  for (const { name: asked, dynamicParameters } of client.wanted) {
    const parameters = new Map(Object.entries(dynamicParameters));
    for (const name of asked === "*" ? ["n", "m"] : [asked]) {
      const now = expected(world, typeUrl, name, parameters);
      const held = client.matching(name, parameters);
      const what = `${when} ${JSON.stringify([asked, name, dynamicParameters])}`;
      // Partial SotW has no removals: a client may hold what has gone.
      if (isDelta(world.variant) || typeUrl === FULL) expect(held, what).toEqual(now);
      else expect(held, what).toEqual(expect.arrayContaining([...now]));
    }
  }
}

describe("clients with dynamic parameters, at seeds that once went wrong", () => {
  it("hear that the resource for everyone went after another variant of the name has gone (delta/ads) [S-DYN-5]", () => {
    run(1_442, "delta/ads", FULL, undefined);
  });
});

describe("clients with dynamic parameters in random order", () => {
  const cases = (["delta/ads", "sotw/ads"] as const).flatMap((variant) =>
    [FULL, PART].map((typeUrl) => [variant, typeUrl] as const),
  );
  it.each(cases)(
    "hold of each name the variant that matches, and no other that could (%s, %s) [B-DYN-3] [S-DYN-5]",
    (variant, typeUrl) => {
      for (let index = 0; index < runs; index++)
        run(firstSeed + index, variant, typeUrl, undefined);
    },
  );

  it.each(cases)(
    "do so behind a policy that hides other names (%s, %s) [S-DYN-5] [S-LIM-8]",
    (variant, typeUrl) => {
      for (let index = 0; index < runs; index++)
        run(firstSeed + index, variant, typeUrl, {
          key: "k",
          allows: (_, name) => !name.endsWith("-end"),
        });
    },
  );
});
