import { createCache } from "@xdstp/cache";
import { type Put, type Removal, type ResourceType } from "@xdstp/core";
import { createScheduler, createServerContext } from "@xdstp/core/server";
import { createFakeClock, createManualScheduler, createMemoryStream, type ManualScheduler } from "@xdstp/testing";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { nameKey } from "@xdstp/uri";
import { describe, expect, it } from "vitest";
import type { ModelClient, ModelClientOptions } from "./model-client.ts";
import { createModelDeltaClient } from "./model-delta-client.ts";
import { createModelSotwClient } from "./model-sotw-client.ts";
import { createRandom, type Random } from "./random.ts";

const CLUSTERS = "type.googleapis.com/test.Cluster";
const ENDPOINTS = "type.googleapis.com/test.Endpoints";
const ROUTES = "type.googleapis.com/test.Route";
const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  { typeUrl: ENDPOINTS, follows: [{ typeUrl: CLUSTERS, when: "sent" }], refersTo: [CLUSTERS] },
  { typeUrl: ROUTES, fullStateInSotw: true, follows: [{ typeUrl: CLUSTERS, when: "accepted" }] },
];
const typeUrls = types.map(({ typeUrl }) => typeUrl);
const runs = Math.max(4, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const bodyOf = (name: string, version: string): Uint8Array => new TextEncoder().encode(JSON.stringify({ name, version }));
const isFullState = (typeUrl: string): boolean => types.some((type) => type.typeUrl === typeUrl && type.fullStateInSotw === true);
const readPayload = (value: Uint8Array): { name: string; version: string } => JSON.parse(new TextDecoder().decode(value)) as { name: string; version: string };

interface World {
  readonly turns: ManualScheduler;
  readonly random: Random;
  readonly clients: readonly ModelClient[];
  readonly truth: ReadonlyMap<string, Map<string, string>>;
  commit(): void;
  /** Puts a good version of everything that is bad. */
  mend(): void;
  settle(): void;
}

function createWorld(seed: number, variant: "delta" | "sotw", options: ModelClientOptions): World {
  const random = createRandom(seed);
  const turns = createManualScheduler();
  const clock = createFakeClock();
  const cache = createCache({ types, clock });
  const context = createServerContext({ source: cache, clock, scheduler: createScheduler({ slice: 2, later: turns.later }) });
  const truth = new Map(typeUrls.map((typeUrl) => [typeUrl, new Map<string, string>()]));
  let version = 0;
  cache.commit({});
  const connect = (): ModelClient => {
    if (variant === "delta") return createModelDeltaClient(createMemoryStream((out) => createDeltaServer(context).open({ peer: "model" }, out)), options);
    return createModelSotwClient(createMemoryStream((out) => createSotwServer(context).open({ peer: "model" }, out)), { isFullState, readPayload }, options);
  };
  const clients = Array.from({ length: 4 }, connect);
  return {
    turns, random, clients, truth,
    commit() {
      const put = new Map<string, Put>();
      const remove = new Map<string, Removal>();
      for (let n = 1 + random.below(4); n > 0; n--) {
        const typeUrl = random.pick(typeUrls);
        const name = stored(random, typeUrl);
        const key = `${typeUrl} ${name}`;
        if (put.has(key) || remove.has(key)) continue;
        if (random.below(3) > 0) {
          const next = `v${++version}${random.below(8) === 0 ? "-bad" : ""}`;
          put.set(key, { typeUrl, resource: { name, version: next, payload: { typeUrl, value: bodyOf(name, next) } } });
          truth.get(typeUrl)?.set(name, next);
        } else {
          remove.set(key, { typeUrl, name });
          truth.get(typeUrl)?.delete(name);
        }
      }
      cache.commit({ put: [...put.values()], remove: [...remove.values()] });
    },
    mend() {
      const bad = [...truth].flatMap(([typeUrl, names]) => [...names].filter(([, held]) => held.endsWith("-bad")).map(([name]) => ({ typeUrl, name })));
      for (const { typeUrl, name } of bad) {
        const next = `v${++version}`;
        cache.commit({ put: [{ typeUrl, resource: { name, version: next, payload: { typeUrl, value: bodyOf(name, next) } } }] });
        truth.get(typeUrl)?.set(name, next);
      }
    },
    settle() {
      let waited = false;
      for (let round = 0; round < 2_000; round++) {
        turns.run();
        let busy = false;
        for (const client of clients) {
          while (client.receive()) busy = true;
          busy = client.answer() || busy;
        }
        // What waits for a client goes at last.
        if (!busy && waited) return;
        if (!busy) clock.advance(15_000);
        waited = !busy;
      }
      throw new Error(`seed ${seed}: no rest`);
    },
  };
}

const typeName = (typeUrl: string): string => typeUrl.slice(typeUrl.indexOf("/") + 1);

/** A name as it is stored: opaque or xdstp. */
function stored(random: Random, typeUrl: string): string {
  return random.below(2) === 0 ? `c${random.below(8)}` : `xdstp://a/${typeName(typeUrl)}/${random.pick(["p", "q"])}/${random.below(6)}`;
}

/** A name as it is asked for: also in another spelling, a glob, the wildcard. */
function wanted(random: Random, typeUrl: string): string {
  switch (random.below(8)) {
    case 0: return "*";
    case 1: return `xdstp://a/${typeName(typeUrl)}/p/*`;
    case 2: return `xdstp://a/${typeName(typeUrl)}/q/%2A`;
    case 3: return `xdstp://a/${typeName(typeUrl)}/p/%3${random.below(6)}?`;
    default: return stored(random, typeUrl);
  }
}

function step(world: World, mayCross: boolean): void {
  const { random, clients, turns } = world;
  const client = random.pick(clients);
  switch (random.below(6)) {
    case 0: case 1: world.commit(); break;
    case 2: {
      const typeUrl = random.pick(typeUrls);
      const add = Array.from({ length: 1 + random.below(2) }, () => wanted(random, typeUrl));
      const quiet = client.stream.unread === 0 && client.unanswered === 0;
      const drop = random.below(2) === 0 || (!mayCross && !quiet) ? [] : [wanted(random, typeUrl)].filter((name) => !add.map(nameKey).includes(nameKey(name)));
      client.change(typeUrl, add, drop);
      break;
    }
    case 3: turns.turn(); break;
    case 4: client.receive(); break;
    default: client.answer();
  }
}

/** What the client should hold of a type: all that exists and it covers. */
function expected(world: World, client: ModelClient, typeUrl: string): readonly string[] {
  const truth = world.truth.get(typeUrl) ?? new Map<string, string>();
  return [...truth].filter(([name]) => client.covers(typeUrl, name)).map(([name, version]) => `${nameKey(name)}=${version}`).sort();
}

function heldBy(client: ModelClient, typeUrl: string): readonly string[] {
  return [...client.held(typeUrl)].map(([name, version]) => `${name}=${version}`).sort();
}

function run(seed: number, variant: "delta" | "sotw", options: ModelClientOptions): void {
  const world = createWorld(seed, variant, options);
  for (let n = 0; n < 400; n++) step(world, variant === "delta");
  world.settle();
  world.mend();
  world.settle();
  for (const [index, client] of world.clients.entries()) {
    expect(client.stream.closed, `seed ${seed}: client ${index} was cut off`).toBeUndefined();
    expect(client.faults, `seed ${seed}: client ${index}`).toEqual([]);
    for (const typeUrl of typeUrls) {
      const mine = heldBy(client, typeUrl);
      const want = expected(world, client, typeUrl);
      const partial = variant === "sotw" && typeUrl === ENDPOINTS;
      if (partial) expect(mine, `seed ${seed}: client ${index} ${typeUrl}`).toEqual(expect.arrayContaining(want.filter((line) => !line.includes("xdstp:") || exactOnly(client, typeUrl, line))));
      else expect(mine, `seed ${seed}: client ${index} ${typeUrl}`).toEqual(want);
    }
  }
}

/** In SotW a glob of a type without full state is not served (C-GLOB-10): only names and the wildcard count. */
function exactOnly(client: ModelClient, typeUrl: string, line: string): boolean {
  return client.covers(typeUrl, "opaque") || !line.includes("/p/") && !line.includes("/q/");
}

const refuses = (version: string): boolean => version.endsWith("-bad");

describe("random streams", () => {
  it.each(["delta", "sotw"] as const)("hold exactly what the source has, whatever was committed, subscribed and answered in between (%s/ads) [S-DUP-1] [S-NONCE-1] [S-ACK-16]", (variant) => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, variant, {});
  });

  it.each(["delta", "sotw"] as const)("hold it too once what a client refused has been mended (%s/ads) [S-ACK-8]", (variant) => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, variant, { refuses, wholeResponses: true });
  });

  it("hold it too if the client applies the good part of a response that it refuses (delta/ads) [S-ACK-8]", () => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, "delta", { refuses });
  });
});
