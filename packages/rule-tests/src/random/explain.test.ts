import { createCache } from "@xdstp/cache";
import type { Put, Removal } from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import { createServer, type StreamExplanation, type XdsServer } from "@xdstp/server";
import { createFakeClock, createManualScheduler, createMemoryStream } from "@xdstp/testing";
import { ConfigStatus } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import type { ModelClient } from "./model-client.ts";
import { createModelDeltaClient } from "./model-delta-client.ts";
import { createModelSotwClient } from "./model-sotw-client.ts";
import {
  bodyOf,
  CLUSTERS,
  ENDPOINTS,
  LISTENERS,
  orderedRegistry,
  orderedTypes,
  readBody,
  ROUTES,
} from "./ordered-types.ts";
import { createRandom } from "./random.ts";

const runs = Math.max(6, Math.round(1_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const typeUrls = [CLUSTERS, ENDPOINTS, LISTENERS, ROUTES] as const;
const names = ["a", "b", "c"];

interface World {
  readonly server: XdsServer;
  readonly client: ModelClient;
  /** The existing resources, by type and name. */
  readonly truth: ReadonlyMap<string, string>;
  step(): void;
}

/** A server with one client, which rejects what is bad, answers late or not, and subscribes to other names all the time. */
function createWorld(seed: number, variant: "delta" | "sotw"): World {
  const random = createRandom(seed);
  const turns = createManualScheduler();
  const clock = createFakeClock();
  const cache = createCache({ types: orderedTypes, clock, replacedBytes: 1 << 24 });
  const server = createServer({
    source: cache,
    registry: orderedRegistry,
    clock,
    scheduler: createScheduler({ slice: 2, later: turns.later }),
  });
  const truth = new Map<string, string>();
  let version = 0;
  const commit = (): void => {
    const put = new Map<string, Put>();
    const remove = new Map<string, Removal>();
    for (let n = 1 + random.below(3); n > 0; n--) {
      const typeUrl = random.pick(typeUrls);
      const name = random.pick(names);
      const key = `${typeUrl} ${name}`;
      put.delete(key);
      if (random.below(4) === 0) {
        if (truth.delete(key)) remove.set(key, { typeUrl, name });
        continue;
      }
      const bad = random.below(8) === 0 ? "-bad" : "";
      const target = typeUrl === LISTENERS || typeUrl === ROUTES ? `>${random.pick(names)}` : "";
      const text = `v${++version}${bad}${target}`;
      truth.set(key, text);
      remove.delete(key);
      const payload = { typeUrl, value: bodyOf({ name, version: text }) };
      put.set(key, { typeUrl, resource: { name, version: text, payload } });
    }
    cache.commit({ put: [...put.values()], remove: [...remove.values()] });
  };
  commit();
  const method = variant === "delta" ? "DeltaAggregatedResources" : "StreamAggregatedResources";
  const stream = createMemoryStream((out) => {
    const handler = server.accept(`${ADS}/${method}`, "model", out);
    if ("code" in handler) throw new Error(handler.message);
    return handler;
  });
  const options = { rejects: (text: string) => text.includes("-bad"), wholeResponses: true };
  const client =
    variant === "delta"
      ? createModelDeltaClient(stream, options)
      : createModelSotwClient(
          stream,
          { isFullState: (typeUrl) => typeUrl !== ENDPOINTS, readPayload: readBody },
          options,
        );
  for (const typeUrl of typeUrls)
    client.change(typeUrl, random.below(2) === 0 ? ["*"] : [random.pick(names)], []);
  return {
    server,
    client,
    truth,
    step() {
      switch (random.below(7)) {
        case 0:
          commit();
          break;
        case 1:
        case 2:
          turns.turn();
          break;
        case 3:
          client.answer();
          break;
        case 4:
          if (random.below(6) === 0)
            client.change(random.pick(typeUrls), [random.pick(names)], [random.pick(names)]);
          if (random.below(10) === 0) clock.advance(6_000);
          break;
        default:
          // It answers each response: an unanswered one next to another is not answered by the model.
          client.answer();
          client.receive();
      }
    },
  };
}

/** Compares what is explained with what the client has. It has answered all that it was sent. */
async function compare(
  { server, client, truth }: World,
  seed: number,
  found: Map<string, number>,
): Promise<void> {
  for (const typeUrl of typeUrls) {
    for (const name of names) {
      const { text, streams } = await server.explain({ node: "model", typeUrl, name });
      const has = client.held(typeUrl).get(name);
      const where = `seed ${seed}, ${typeUrl} ${name}, of which the client has ${has ?? "nothing"}: ${text}`;
      const [stream] = streams;
      if (stream === undefined) throw new Error(where);
      count(found, stream);
      const { held, subscription, cause } = stream;
      if (cause.kind === "rejected" && cause.isCertain)
        expect(has, where).not.toBe(truth.get(`${typeUrl} ${name}`));
      expect(subscription !== undefined, where).toBe(client.covers(typeUrl, name));
      if (held.what === "unknown") continue;
      expect(held.what === "none", where).toBe(has === undefined);
      if (held.version !== undefined) expect(held.version, where).toBe(has);
      if (has !== undefined && has === truth.get(`${typeUrl} ${name}`))
        expect(held.what, where).toBe("newest");
    }
  }
}

/** Compares client status with what the client has, and with what is explained. */
async function compareStatus({ server, client, truth }: World, seed: number): Promise<void> {
  const { config } = await server.clientStatus();
  for (const { typeUrl, name, configStatus, xdsConfig } of config[0]?.genericXdsConfigs ?? []) {
    if (name === "*") continue;
    const has = client.held(typeUrl).get(name);
    const where = `seed ${seed}, ${typeUrl} ${name}, of which the client has ${has ?? "nothing"}: status ${configStatus}`;
    if (configStatus === ConfigStatus.SYNCED)
      expect(has, where).toBe(truth.get(`${typeUrl} ${name}`));
    if (xdsConfig !== undefined) expect(readBody(xdsConfig.value).version, where).toBe(has);
    // The rows of removed names are those of their own subscriptions; explain() knows the others too.
    if (!truth.has(`${typeUrl} ${name}`)) continue;
    const { streams } = await server.explain({ node: "model", typeUrl, name });
    const { what, version } = streams[0]?.held ?? {};
    expect(configStatus === ConfigStatus.SYNCED, where).toBe(
      what === "newest" && version !== undefined,
    );
    expect(xdsConfig && readBody(xdsConfig.value).version, where).toBe(version);
  }
}

function count(found: Map<string, number>, { held, cause }: StreamExplanation): void {
  for (const key of [held.what, cause.kind]) found.set(key, (found.get(key) ?? 0) + 1);
}

/** Compares at each step after which the client has answered all that it was sent. Returns how often each state and each cause was explained. */
async function compareAll(
  seeds: readonly number[],
  variant: "delta" | "sotw",
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const seed of seeds) {
    const world = createWorld(seed, variant);
    for (let step = 0; step < 200; step++) {
      world.step();
      if (world.client.unanswered + world.client.stream.unread > 0) continue;
      await compare(world, seed, found);
      await compareStatus(world, seed);
    }
    world.client.stream.cancel();
  }
  return found;
}

describe.each(["delta", "sotw"] as const)(
  "explain() and client status at random (%s/ads)",
  (variant) => {
    it("say that a client has a version if and only if it has that", async () => {
      await compareAll(
        Array.from({ length: runs }, (_, n) => firstSeed + n),
        variant,
      );
    });

    // The number of times that a state occurs depends on the seeds, so these are always the same.
    it("know what a client has at least four times of five, and give each cause", async () => {
      const found = await compareAll([1, 2, 3], variant);
      const sum = (...states: readonly string[]): number =>
        states.reduce((total, what) => total + (found.get(what) ?? 0), 0);
      expect(sum("newest", "earlier", "none")).toBeGreaterThan(4 * sum("unknown"));
      for (const kind of ["accepted", "missing", "held-back", "rejected", "not-subscribed"])
        expect(found.get(kind), kind).toBeGreaterThan(0);
    });
  },
);
