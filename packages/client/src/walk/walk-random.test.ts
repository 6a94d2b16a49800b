import { createCache, type Cache, type RawResource } from "@xdstp/cache";
import { XdsError, type Put, type Removal, type ResourceFeed } from "@xdstp/core";
import { ListenerSchema } from "@xdstp/protos/envoy/listener";
import { SecretSchema } from "@xdstp/protos/envoy/secret";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock, createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import {
  cluster,
  clusterUrl,
  endpoints,
  endpointsUrl,
  listener,
  listenerUrl,
  routes,
  routesUrl,
  secret,
  secretUrl,
} from "../../test/envoy-resources.ts";
import { parts } from "../../test/envoy-parts.ts";
import { namedIn } from "../../test/named-in.ts";
import { createHub } from "../hub.ts";
import { createTaking, type Taking, type Unread } from "../taking.ts";
import type { Configuration, PartTypes } from "./graph.ts";
import { walkName } from "./walk-name.ts";

/** 40,000 if XDSTP_SCALE is 1. */
const runs = Math.max(200, Math.round(40_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

const typeUrls = [listenerUrl, routesUrl, clusterUrl, endpointsUrl, secretUrl] as const;
const types = { ...parts, secrets: SecretSchema };
const garbage = Uint8Array.of(0x0a, 0x7f);

type Given = Configuration<unknown, PartTypes>;
/** Versions by type and name. */
type Versions = ReadonlyMap<string, string>;
/**
 * A response: for each requested name, the resource when it was sent. `undefined`: there was none.
 */
interface Response {
  readonly typeUrl: string;
  readonly resources: ReadonlyMap<string, (RawResource & { readonly version: string }) | undefined>;
}

const keyOf = (typeUrl: string, name: string): string => `${typeUrl} ${name}`;
const encoded = new Map<string, RawResource>();
/**
 * Returns an encoded resource from a table: encoding takes most of the time of this test, and there
 * are few different resources.
 */
function once(key: string, make: () => RawResource): RawResource {
  const known = encoded.get(key) ?? make();
  encoded.set(key, known);
  return known;
}

/**
 * The resources of the server. They change at random, and references may lead to missing resources.
 */
function createTruth(random: SeededRandom) {
  const held = new Map<string, RawResource & { readonly version: string }>();
  let version = 0;
  const put = (resource: RawResource): void => {
    held.set(keyOf(resource.typeUrl, resource.name), { ...resource, version: `v${++version}` });
  };
  const clusterName = (): string => `c${random.below(5)}`;
  const putCluster = (name: string): void => {
    const [service, secretName, seconds] = [
      random.pick([undefined, undefined, "e0", "e1"]),
      random.pick([undefined, undefined, "s0"]),
      1 + random.below(3),
    ];
    put(
      once(`${name} ${service ?? ""} ${secretName ?? ""} ${seconds}`, () =>
        cluster(name, {
          seconds,
          ...(service !== undefined && { service }),
          ...(secretName !== undefined && { secret: secretName }),
        }),
      ),
    );
  };
  const putEndpoints = (name: string): void => {
    const port = 1 + random.below(4);
    put(once(`${name}:${port}`, () => endpoints(name, port)));
  };
  const putRoutes = (...clusters: readonly string[]): void => {
    const name = `r${random.below(2)}`;
    put(once([name, ...clusters].join(), () => routes(name, ...clusters)));
  };
  const change = (): void => {
    switch (random.below(9)) {
      case 0: {
        const to = `r${random.below(2)}`;
        put(once(`l ${to}`, () => listener("l", to)));
        break;
      }
      case 1:
      case 2:
        putRoutes(...Array.from({ length: 1 + random.below(3) }, clusterName));
        break;
      case 3:
        putCluster(clusterName());
        break;
      case 4:
        putEndpoints(random.pick(["c0", "c1", "c2", "c3", "c4", "e0", "e1"]));
        break;
      case 5:
        put(once("s0", () => secret("s0")));
        break;
      // Traffic moves to a new cluster, with the resources that it needs, and the old ones are
      // removed.
      case 6: {
        const name = clusterName();
        putCluster(name);
        putEndpoints(name);
        putRoutes(name);
        held.delete(keyOf(clusterUrl, clusterName()));
        break;
      }
      case 7:
        held.delete(
          keyOf(
            random.pick([listenerUrl, routesUrl, clusterUrl, clusterUrl, endpointsUrl, secretUrl]),
            random.pick(["l", "r0", "r1", "c0", "c1", "c2", "c3", "c4", "e0", "s0"]),
          ),
        );
        break;
      default:
        putCluster(clusterName());
    }
  };
  const mend = (): void => {
    const keeps = (typeUrl: string, name: string): boolean => held.has(keyOf(typeUrl, name));
    if (!keeps(listenerUrl, "l")) put(listener("l", "r0"));
    for (const name of ["r0", "r1"])
      if (!keeps(routesUrl, name)) put(once(`${name},c0`, () => routes(name, "c0")));
    for (const name of ["c0", "c1", "c2", "c3", "c4"])
      if (!keeps(clusterUrl, name)) putCluster(name);
    for (const name of ["c0", "c1", "c2", "c3", "c4", "e0", "e1"])
      if (!keeps(endpointsUrl, name)) putEndpoints(name);
    if (!keeps(secretUrl, "s0")) put(once("s0", () => secret("s0")));
  };
  return { held, change, mend };
}

/**
 * A server and its network: responses of one type arrive in order, those of different types in any
 * order. Some are invalid.
 */
function createSupply(cache: Cache, random: SeededRandom, truth: ReturnType<typeof createTruth>) {
  const wanted = new Map<string, Set<string>>(typeUrls.map((typeUrl) => [typeUrl, new Set()]));
  const feed: ResourceFeed = {
    run: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener(
          "abort",
          () => {
            resolve();
          },
          { once: true },
        );
      }),
    want(typeUrl, added, dropped) {
      for (const { name } of dropped) wanted.get(typeUrl)?.delete(name);
      for (const { name } of added) wanted.get(typeUrl)?.add(name);
    },
  };
  const onTheWay = new Map<string, Response[]>(typeUrls.map((typeUrl) => [typeUrl, []]));
  const history: Versions[] = [new Map()];
  const note = (): void => {
    history.push(
      new Map(
        typeUrls.flatMap((typeUrl) =>
          [...cache.held(typeUrl)].map(
            ({ name, version }) => [keyOf(typeUrl, name), version] as const,
          ),
        ),
      ),
    );
  };
  const send = (typeUrl: string): void => {
    const names = [...(wanted.get(typeUrl) ?? [])];
    onTheWay.get(typeUrl)?.push({
      typeUrl,
      resources: new Map(names.map((name) => [name, truth.held.get(keyOf(typeUrl, name))])),
    });
  };
  const take = (
    { typeUrl, resources }: Response,
    isBad: (name: string) => boolean,
  ): { readonly put: Put[]; readonly remove: Removal[] } => {
    const put: Put[] = [];
    const remove: Removal[] = [];
    for (const [name, resource] of resources) {
      if (wanted.get(typeUrl)?.has(name) !== true) continue;
      if (resource === undefined) remove.push({ typeUrl, name });
      else if (isBad(name))
        put.push({
          typeUrl,
          resource: {
            name,
            version: `${resource.version}-bad`,
            payload: { typeUrl, value: garbage },
          },
        });
      else
        put.push({
          typeUrl,
          resource: {
            name,
            version: resource.version,
            payload: { typeUrl, value: resource.value },
          },
        });
    }
    return { put, remove };
  };
  const commit = (
    responses: readonly Response[],
    isBad: (name: string) => boolean = () => false,
  ): void => {
    const taken = responses.map((response) => take(response, isBad));
    const put = taken.flatMap((one) => one.put);
    const { rejected = [] } = cache.commit({ put, remove: taken.flatMap(({ remove }) => remove) });
    const bad = new Map(rejected.map(({ typeUrl, name, error }) => [keyOf(typeUrl, name), error]));
    for (const {
      typeUrl,
      resource: { name },
    } of put)
      cache.unavailable({ typeUrl, interest: { name } }, bad.get(keyOf(typeUrl, name)));
    note();
  };
  return {
    feed,
    history,
    send,
    deliver(typeUrl: string) {
      const response = onTheWay.get(typeUrl)?.shift();
      if (response !== undefined) commit([response], () => random.below(8) === 0);
    },
    /** Delivers several types at one revision, as a relay or a file does. */
    deliverTogether() {
      commit([...onTheWay.values()].flatMap((queue) => queue.splice(0, 1)));
    },
    flush() {
      for (const typeUrl of typeUrls) {
        send(typeUrl);
        for (const response of onTheWay.get(typeUrl)?.splice(0) ?? []) commit([response]);
      }
    },
    breakOrMend() {
      cache.unavailable({}, random.pick([undefined, new XdsError("UNAVAILABLE", "away")]));
    },
    wanted: () =>
      [...wanted]
        .flatMap(([typeUrl, names]) => [...names].map((name) => keyOf(typeUrl, name)))
        .sort(),
  };
}

/**
 * Checks the rule itself with messages decoded here: each name in a configuration is in it, no
 * other resource is, and it was so at one moment.
 */
function check(
  { name, root: rootMember, resources, missing }: Given,
  history: readonly Versions[],
  where: string,
): void {
  if (rootMember === undefined) {
    expect(resources.size, where).toBe(0);
    return;
  }
  const lacking = new Set(missing.map(({ typeUrl, name: lacked }) => keyOf(typeUrl, lacked)));
  const reached = new Set([keyOf(listenerUrl, name)]);
  const versions: [string, string][] = [];
  for (const key of reached) {
    const [typeUrl = "", named = ""] = key.split(" ");
    const member = resources.get(typeUrl)?.get(named);
    if (member === undefined) {
      if (!lacking.has(key)) throw new Error(`${where}: ${key} is named and not there`);
      continue;
    }
    versions.push([key, member.version]);
    for (const [type, next] of namedIn(typeUrl, member.value)) reached.add(keyOf(type, next));
  }
  const size = [...resources.values()].reduce((sum, named) => sum + named.size, 0);
  if (size !== versions.length) throw new Error(`${where}: there is more than is named`);
  if (!history.some((then) => versions.every(([key, version]) => then.get(key) === version)))
    throw new Error(`${where}: a mixture, it was never so`);
}

/** The same sink. It keeps the updates that readers have not consumed in `unread`. */
function countUnread(taking: Taking, unread: Set<Unread>): Taking {
  return {
    ...taking,
    begin() {
      const one = taking.begin();
      unread.add(one);
      return {
        renew() {
          one.renew();
        },
        consumed() {
          unread.delete(one);
          one.consumed();
        },
      };
    },
  };
}

async function rest(): Promise<void> {
  for (let n = 0; n < 8; n++) await Promise.resolve();
}

/** Runs one interleaving. Returns the number of configurations. */
async function run(seed: number): Promise<number> {
  const random = createSeededRandom(seed);
  const clock = createFakeClock();
  const cache = createCache({ types: envoyTypes, clock });
  const unread = new Set<Unread>();
  const taking = countUnread(createTaking(clock), unread);
  const hub = createHub({ cache, taking, nodeId: "me", interestOf: (_, name) => ({ name }) });
  const truth = createTruth(random);
  const supply = createSupply(cache, random, truth);
  cache.addFeed(supply.feed);
  const initialFetchMs = random.pick([0, 0, 0, 15_000]);
  const walk = walkName(hub, clock, ListenerSchema, "l", { types, initialFetchMs });
  const updates = walk[Symbol.asyncIterator]();
  const reader: { given?: Given; reading: boolean; failure?: unknown } = { reading: false };
  let count = 0;
  const read = (): void => {
    if (reader.reading) return;
    reader.reading = true;
    void updates
      .next()
      .then(({ value }) => {
        reader.reading = false;
        if (value === undefined) return;
        reader.given = value;
        count++;
        check(value, supply.history, `seed ${seed}, configuration ${count}`);
        if (initialFetchMs === 0)
          expect(
            value.missing,
            `seed ${seed}, configuration ${count}: complete or nothing`,
          ).toEqual([]);
      })
      .catch((failure: unknown) => {
        reader.failure ??= failure;
      });
  };
  /**
   * A reader that waits for more has consumed all updates, so streams must not wait for it
   * (C-ACK-13).
   */
  const checkTaken = (): void => {
    if (reader.reading && unread.size > 0)
      throw new Error(`seed ${seed}: the streams are held for nothing`);
  };
  const step = async (): Promise<void> => {
    switch (random.below(12)) {
      case 0:
      case 1:
        truth.change();
        break;
      case 2:
      case 3:
      case 4:
        supply.send(random.pick(typeUrls));
        break;
      case 5:
      case 6:
      case 7:
        supply.deliver(random.pick(typeUrls));
        break;
      case 8:
        supply.deliverTogether();
        break;
      case 9:
        read();
        break;
      case 10:
        if (random.below(4) === 0) supply.breakOrMend();
        else clock.advance(random.below(8_000));
        break;
      default:
        await rest();
        checkTaken();
    }
  };

  for (let n = 0; n < 10; n++) truth.change();
  await rest();
  for (let n = 0; n < 60; n++) await step();
  // At the end every resource exists, and the reader reads.
  truth.mend();
  cache.unavailable({}, undefined);
  for (let n = 0; n < 7; n++) {
    supply.flush();
    read();
    await rest();
    checkTaken();
  }
  const { given, failure } = reader;
  if (failure !== undefined) throw failure as Error;
  if (given?.root === undefined) throw new Error(`seed ${seed}: no configuration in the end`);
  expect([given.missing, given.pending, given.error], `seed ${seed}`).toEqual([[], [], undefined]);
  const names = [...given.resources].flatMap(([typeUrl, named]) =>
    [...named].map(([name, { version }]) => [keyOf(typeUrl, name), version] as const),
  );
  for (const [key, version] of names)
    if (truth.held.get(key)?.version !== version)
      throw new Error(`seed ${seed}: ${key} is old in the end`);
  expect(names.map(([key]) => key).sort(), `seed ${seed}: what is wanted in the end`).toEqual(
    supply.wanted(),
  );
  walk.close();
  await cache.close();
  return count;
}

describe("a walk through random interleavings", () => {
  it(`hands out no configuration that names what it does not contain, ${runs} times [C-ORD-7] [C-GRPC-13] [C-ACK-13]`, async () => {
    let count = 0;
    for (let n = 0; n < runs; n++) count += await run(firstSeed + n);
    expect(count).toBeGreaterThan(runs * 2);
  });
});
