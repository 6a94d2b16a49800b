import { createCache } from "@xdstp/cache";
import { createScheduler, createServerContext } from "@xdstp/protocol/server";
import {
  createFakeClock,
  createManualScheduler,
  createMemoryStream,
  type ManualScheduler,
} from "@xdstp/testing";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { nameKey } from "@xdstp/uri";
import { describe, expect, it } from "vitest";
import type { ModelClient, ModelClientOptions } from "./model-client.ts";
import { createModelDeltaClient } from "./model-delta-client.ts";
import { createModelSotwClient } from "./model-sotw-client.ts";
import { ENDPOINTS, isFullState, readPayload, types, typeUrls } from "./model-types.ts";
import { createRandomChanges, type RandomChanges } from "./random-changes.ts";
import { wanted } from "./random-names.ts";
import { createRandom, type Random } from "./random.ts";
import { settleAll } from "./settle-all.ts";

const runs = Math.max(4, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

interface World extends RandomChanges {
  readonly turns: ManualScheduler;
  readonly random: Random;
  readonly clients: readonly ModelClient[];
  settle(): void;
}

function createWorld(seed: number, variant: "delta" | "sotw", options: ModelClientOptions): World {
  const random = createRandom(seed);
  const turns = createManualScheduler();
  const clock = createFakeClock();
  const cache = createCache({ types, clock });
  const context = createServerContext({
    source: cache,
    clock,
    scheduler: createScheduler({ slice: 2, later: turns.later }),
  });
  const changes = createRandomChanges(cache, random);
  const connect = (): ModelClient => {
    if (variant === "delta")
      return createModelDeltaClient(
        createMemoryStream((out) => createDeltaServer(context).open({ peer: "model" }, out)),
        options,
      );
    return createModelSotwClient(
      createMemoryStream((out) => createSotwServer(context).open({ peer: "model" }, out)),
      { isFullState, readPayload },
      options,
    );
  };
  const clients = Array.from({ length: 4 }, connect);
  return {
    ...changes,
    turns,
    random,
    clients,
    settle() {
      settleAll(clients, turns, clock, seed);
    },
  };
}

function step(world: World, mayCross: boolean): void {
  const { random, clients, turns } = world;
  const client = random.pick(clients);
  switch (random.below(6)) {
    case 0:
    case 1:
      world.commit();
      break;
    case 2: {
      const typeUrl = random.pick(typeUrls);
      const add = Array.from({ length: 1 + random.below(2) }, () => wanted(random, typeUrl));
      const quiet = client.stream.unread === 0 && client.unanswered === 0;
      const drop =
        random.below(2) === 0 || (!mayCross && !quiet)
          ? []
          : [wanted(random, typeUrl)].filter((name) => !add.map(nameKey).includes(nameKey(name)));
      client.change(typeUrl, add, drop);
      break;
    }
    case 3:
      turns.turn();
      break;
    case 4:
      client.receive();
      break;
    default:
      client.answer();
  }
}

/** Returns the resources of a type that the client should have: all that exist and that it covers. */
function expected(world: World, client: ModelClient, typeUrl: string): readonly string[] {
  const truth = world.truth.get(typeUrl) ?? new Map<string, string>();
  return [...truth]
    .filter(([name]) => client.covers(typeUrl, name))
    .map(([name, version]) => `${nameKey(name)}=${version}`)
    .sort();
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
      if (partial)
        expect(mine, `seed ${seed}: client ${index} ${typeUrl}`).toEqual(
          expect.arrayContaining(
            want.filter((line) => !line.includes("xdstp:") || exactOnly(client, typeUrl, line)),
          ),
        );
      else expect(mine, `seed ${seed}: client ${index} ${typeUrl}`).toEqual(want);
    }
  }
}

/** In SotW a glob of a type without full state is not served (C-GLOB-10): only names and the wildcard count. */
function exactOnly(client: ModelClient, typeUrl: string, line: string): boolean {
  return client.covers(typeUrl, "opaque") || (!line.includes("/p/") && !line.includes("/q/"));
}

const rejects = (version: string): boolean => version.endsWith("-bad");

describe("random streams", () => {
  it.each(["delta", "sotw"] as const)(
    "hold exactly what the source has, whatever was committed, subscribed and answered in between (%s/ads) [S-DUP-1] [S-NONCE-1] [S-ACK-16]",
    (variant) => {
      for (let n = 0; n < runs; n++) run(firstSeed + n, variant, {});
    },
  );

  it.each(["delta", "sotw"] as const)(
    "hold it too once what a client rejected has been mended (%s/ads) [S-ACK-8]",
    (variant) => {
      for (let n = 0; n < runs; n++) run(firstSeed + n, variant, { rejects, wholeResponses: true });
    },
  );

  it("hold it too if the client applies the good part of a response that it rejects (delta/ads) [S-ACK-8]", () => {
    for (let n = 0; n < runs; n++) run(firstSeed + n, "delta", { rejects });
  });

  it("come to rest where two removed names stay that a client is subscribed to, and it rejects the states without them (sotw/ads, seed 936) [S-ACK-8] [S-ORD-3]", () => {
    run(936, "sotw", { rejects, wholeResponses: true });
  });
});
