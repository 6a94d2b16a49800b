import { fromBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import { type Topic, XdsError } from "@xdstp/core";
import { type ClientFeed, createClientContext } from "@xdstp/protocol/client";
import { createScheduler, createServerContext } from "@xdstp/protocol/server";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { createFakeClock, createManualScheduler } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { globOf } from "@xdstp/uri";
import { describe, expect, it } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import { payloadOf, textIn } from "../harness/payload.ts";
import { createRandom, type Random } from "../random/random.ts";
import { node, turn } from "./harness/client-world.ts";
import type { ClientVariantName } from "./harness/scripted-server.ts";
import { createMemoryLink, type LinkSpy, type MemoryLink } from "./harness/memory-link.ts";

const runs = Math.max(4, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const typeUrls = [FULL, PART];
const kind = (typeUrl: string): string => typeUrl.slice("type.googleapis.com/".length);
const namesOf = (typeUrl: string): readonly string[] => [
  "a",
  "b",
  "c",
  ...["p/x", "p/y", "q/x"].map((id) => `xdstp://auth/${kind(typeUrl)}/${id}`),
];

/** In SotW only full state can report removals from a glob or wildcard (C-GLOB-10). */
function interestsOf(variant: ClientVariantName, typeUrl: string): readonly string[] {
  const collections =
    variant === "sotw" && typeUrl === PART
      ? []
      : ["*", `xdstp://auth/${kind(typeUrl)}/p/*`, `xdstp://auth/${kind(typeUrl)}/q/*`];
  return [...namesOf(typeUrl), "none", ...collections];
}

/** Rejects what begins with `bad`. */
const types = madeUpTypes.map((type) => ({
  ...type,
  validate: ({ payload }: { payload: { value: Uint8Array } }) =>
    textIn(payload.value).startsWith("bad")
      ? new XdsError("INVALID_ARGUMENT", "it is bad")
      : undefined,
}));

interface World {
  readonly random: Random;
  readonly origin: Cache;
  readonly cache: Cache;
  readonly feed: ClientFeed;
  readonly link: MemoryLink;
  readonly watched: Map<
    string,
    { readonly typeUrl: string; readonly name: string; readonly topic: Topic }
  >;
  readonly faults: readonly string[];
  /** The number of streams that ended because the client had no subscription. */
  readonly idle: number;
  watch(typeUrl: string, name: string): void;
  /** Does all work that is left while the time stands still. */
  calm(): Promise<void>;
  step(): Promise<void>;
  settle(): Promise<void>;
}

/** Notes each nonce that comes and each that is answered, and what is wrong with that. */
function createNonceSpy(variant: ClientVariantName, faults: string[]): LinkSpy {
  const open = new Map<string, Set<string>>();
  const newest = new Map<string, string>();
  const of = (stream: number, typeUrl: string): Set<string> => {
    const key = `${stream} ${typeUrl}`;
    const nonces = open.get(key) ?? new Set<string>();
    open.set(key, nonces);
    return nonces;
  };
  return {
    onResponse(stream, bytes) {
      const { typeUrl, nonce } = fromBinary(
        variant === "delta" ? DeltaDiscoveryResponseSchema : DiscoveryResponseSchema,
        bytes,
      );
      of(stream, typeUrl).add(nonce);
      newest.set(`${stream} ${typeUrl}`, nonce);
    },
    onRequest(stream, bytes) {
      const { typeUrl, responseNonce } = fromBinary(
        variant === "delta" ? DeltaDiscoveryRequestSchema : DiscoveryRequestSchema,
        bytes,
      );
      if (responseNonce === "") return;
      if (variant === "delta" && !of(stream, typeUrl).delete(responseNonce))
        faults.push(`${responseNonce} of ${typeUrl} was answered twice, or never given`);
      if (variant === "sotw" && !of(stream, typeUrl).has(responseNonce))
        faults.push(`${responseNonce} of ${typeUrl} was never given on stream ${stream}`);
    },
  };
}

function createWorld(seed: number, variant: ClientVariantName): World {
  const random = createRandom(seed);
  const clock = createFakeClock();
  const turns = createManualScheduler();
  const origin = createCache({ types: madeUpTypes, clock });
  origin.commit({});
  const context = createServerContext({
    source: origin,
    clock,
    scheduler: createScheduler({ slice: 2, later: turns.later }),
  });
  const server = variant === "delta" ? createDeltaServer(context) : createSotwServer(context);
  const faults: string[] = [];
  let idle = 0;
  const link = createMemoryLink(
    (out) => server.open({ peer: "random" }, out),
    createNonceSpy(variant, faults),
  );
  const cache = createCache({ types, clock });
  const client = createClientContext({
    connect: link.connect,
    node: withWrapper,
    clock,
    random: () => random.below(100) / 100,
    later: turns.later,
    descriptor: (typeUrl) => cache.descriptor(typeUrl),
    idleMs: 100,
    onEvent: (event) => {
      idle += Number(event.kind === "idle");
    },
  });
  const feed = variant === "delta" ? createDeltaClient(client) : createSotwClient(client);
  cache.addFeed(feed);
  const watched: World["watched"] = new Map();
  const watcher = { wake: () => undefined };
  const change = (): void => {
    const typeUrl = random.pick(typeUrls);
    const name = random.pick(namesOf(typeUrl));
    if (random.below(3) > 0)
      origin.put({
        typeUrl,
        name,
        value: payloadOf(name, `${random.below(6) === 0 ? "bad" : "good"}${random.below(5)}`),
        ...(random.below(5) === 0 ? { ttlMs: 5_000 } : {}),
      });
    else if (variant === "delta" || typeUrl === FULL) origin.remove(typeUrl, name);
  };
  const loseInterest = (): void => {
    for (const { topic } of watched.values()) topic.unwatch(watcher);
    watched.clear();
  };
  const watch = (typeUrl: string, name: string): void => {
    const topic = cache.topic(typeUrl, { name });
    topic.watch(watcher);
    watched.set(`${typeUrl} ${name}`, { typeUrl, name, topic });
  };
  const turnInterest = (): void => {
    const typeUrl = random.pick(typeUrls);
    const name = random.pick(interestsOf(variant, typeUrl));
    const key = `${typeUrl} ${name}`;
    const known = watched.get(key);
    if (known === undefined) watch(typeUrl, name);
    else if (random.below(2) === 0) {
      known.topic.unwatch(watcher);
      watched.delete(key);
    }
  };
  const calm = async (): Promise<void> => {
    for (let quiet = 0, n = 0; quiet < 3; n++) {
      if (n > 20_000) throw new Error(`seed ${seed}: the ends never come to rest`);
      turns.run();
      await turn();
      const moved =
        [link.deliver("server"), link.deliver("client")].includes(true) || turns.pending > 0;
      quiet = moved ? 0 : quiet + 1;
    }
  };
  return {
    random,
    origin,
    cache,
    feed,
    link,
    watched,
    faults,
    watch,
    calm,
    get idle() {
      return idle;
    },
    async step() {
      switch (random.below(9)) {
        case 0:
        case 1:
          change();
          break;
        case 2:
        case 3:
          if (random.below(10) === 0) loseInterest();
          else turnInterest();
          break;
        case 4:
          link.deliver("server");
          break;
        case 5:
          link.deliver("client");
          break;
        case 6:
          turns.turn();
          break;
        case 7:
          clock.advance(random.below(random.below(10) === 0 ? 20_000 : 300));
          break;
        default:
          if (random.below(5) === 0) link.cut();
      }
      if (random.below(2) === 0) await turn();
    },
    async settle() {
      clock.advance(200_000);
      for (let n = 0; n < 80; n++) {
        await calm();
        clock.advance(500);
      }
    },
  };
}

/** Node `me` with the features of C-NODE-5. */
const withWrapper = Buffer.concat([
  node,
  ...["xds.config.supports-resource-in-sotw", "xds.config.supports-resource-ttl"].map((feature) =>
    Buffer.concat([Buffer.of(10 * 8 + 2, feature.length), Buffer.from(feature)]),
  ),
]);

function shown(topic: Topic): readonly string[] {
  return topic
    .members()
    .flatMap(({ name, resource }) =>
      resource === undefined
        ? []
        : [`${name}=${textIn(resource.payload.value)} ${resource.version}`],
    )
    .sort();
}

/** Replaces rejected resources by good ones before the end, so that both sides can be equal. */
function mend({ origin }: World): void {
  for (const typeUrl of typeUrls)
    for (const { name, resource } of [
      ...namesOf(typeUrl).flatMap((name) => origin.topic(typeUrl, { name }).members()),
    ]) {
      if (resource !== undefined && textIn(resource.payload.value).startsWith("bad"))
        origin.put({ typeUrl, name, value: payloadOf(name, "mended") });
    }
}

function isWanted({ watched }: World, typeUrl: string, name: string): boolean {
  return [name, "*", ...(name.startsWith("xdstp:") ? [globOf(name)] : [])].some(
    (interest) => interest !== undefined && watched.has(`${typeUrl} ${interest}`),
  );
}

async function run(seed: number, variant: ClientVariantName): Promise<World> {
  const world = createWorld(seed, variant);
  for (let n = 0; n < 500; n++) await world.step();
  await world.settle();
  mend(world);
  if (!world.watched.has(`${FULL} *`)) world.watch(FULL, "*"); // in SotW a server says nothing of names that do not exist, so an outage would not be known to be over (C-GRPC-4)
  await world.settle();
  expect(world.faults, `seed ${seed}`).toEqual([]);
  for (const { typeUrl, name, topic } of world.watched.values()) {
    expect(shown(topic), `seed ${seed}: ${name} of ${typeUrl}`).toEqual(
      shown(world.origin.topic(typeUrl, { name })),
    );
    expect([topic.settled, topic.stale?.text], `seed ${seed}: ${name} of ${typeUrl}`).toEqual([
      true,
      undefined,
    ]);
  }
  for (const typeUrl of typeUrls)
    for (const { name } of world.cache.held(typeUrl))
      expect(
        isWanted(world, typeUrl, name),
        `seed ${seed}: ${name} of ${typeUrl} is held and nobody wants it`,
      ).toBe(true);
  await world.cache.close();
  return world;
}

describe("a client end and a server end, with a wire that delays and cuts", () => {
  it.each(["delta", "sotw"] as const)(
    "the client has exactly what the origin has and nothing else, and answers each nonce once (%s) [C-ACK-1] [C-RECON-3] [C-GLOB-7] [C-FULL-3] [C-DSUB-8] [C-STREAM-14]",
    async (variant) => {
      let idle = 0;
      for (let n = 0; n < runs; n++) idle += (await run(firstSeed + n, variant)).idle;
      expect(idle).toBeGreaterThan(0);
    },
  );
});
