import { describe, expect, it, onTestFinished } from "vitest";
import { type SizeCase, sizeCases, titleOf } from "../src/size-cases.ts";
import {
  clusterOf,
  endpointsOf,
  patienceMs,
  type SizeWorld,
  stateOf,
  useSizeWorld,
} from "../src/size-world.ts";
import type { TestResource } from "../src/resources.ts";
import { until } from "../src/until.ts";
import { startRelay } from "../src/use-cli.ts";
import { useXdsClient, wordTypes, type XdsClient } from "../src/xds-client.ts";

const variants = ["delta", "sotw"] as const;
type Variant = (typeof variants)[number];

/** The part of a state that a client of ours has received: the word of each name, and the number of updates. */
interface Reader {
  readonly words: ReadonlyMap<string, string>;
  readonly updates: number;
}

function readAll({ client }: XdsClient): Reader {
  const words = new Map<string, string>();
  let updates = 0;
  const watch = client.watchAll(wordTypes.clusters.watched, "*");
  void (async () => {
    for await (const { added, updated } of watch) {
      updates += added.length + updated.length;
      for (const { name, value } of [...added, ...updated]) words.set(name, value);
    }
  })();
  return {
    words,
    get updates() {
      return updates;
    },
  };
}

function readNames({ client }: XdsClient, state: readonly TestResource[]): Reader {
  const words = new Map<string, string>();
  let updates = 0;
  for (const { name } of state) {
    client.watch(wordTypes.endpoints.watched, name, {
      onChanged({ value }) {
        if (value === undefined) return;
        updates += 1;
        words.set(name, value);
      },
    });
  }
  return {
    words,
    get updates() {
      return updates;
    },
  };
}

const wants = [
  { title: "all clusters", make: clusterOf, read: readAll },
  { title: "endpoints by name", make: endpointsOf, read: readNames },
] as const;

/** Waits for everything, then for one change. Then the connection is lost while one more change is made. The server ends nothing, and nothing is received twice. */
async function follow(
  { controlPlane, link, cuts }: SizeWorld,
  state: readonly TestResource[],
  make: typeof clusterOf,
  reader: Reader,
): Promise<void> {
  const seen = (): object => ({ has: reader.words.size, updates: reader.updates, cuts: cuts() });
  const [name = ""] = state.map((resource) => resource.name);
  await until("the state is there", () => reader.words.size === state.length, seen, patienceMs);
  expect(reader.updates).toBe(state.length);
  controlPlane.publish([make(0, 1_000, "second")]);
  await until("the change is there", () => reader.words.get(name) === "second", seen, patienceMs);
  link.cut();
  controlPlane.publish([make(0, 1_000, "third")]);
  await until(
    "the client has come back",
    () => reader.words.get(name) === "third",
    seen,
    patienceMs,
  );
  expect({ cuts: cuts(), updates: reader.updates }).toEqual({
    cuts: {},
    updates: state.length + 2,
  });
}

/** A delta client that reconnects lists the versions of its resources: the state is not sent again. */
function expectNoSecondState(
  variant: Variant,
  { megabytes, resources }: SizeCase,
  { link }: SizeWorld,
): void {
  const stateBytes = megabytes * 1_000_000;
  if (variant === "delta") expect(link.toClients).toBeLessThan(1.1 * stateBytes + 300 * resources);
}

const meta = { program: "xdstp", version: process.version } as const;

describe(
  "xdstp: a real size, our client",
  { meta: { ...meta, suite: "a real size, our client" } },
  () => {
    for (const variant of variants) {
      for (const { title, make, read } of wants) {
        it.for(sizeCases.map((size) => [titleOf(size), size] as const))(
          `has ${title} of %s, then one change, and comes back, and is not cut (${variant}/ads)`,
          { timeout: 3 * patienceMs },
          async ([, size]) => {
            const state = stateOf(size, make);
            const world = await useSizeWorld(size, state);
            const reader = read(useXdsClient(`127.0.0.1:${world.link.port}`, { variant }), state);
            await follow(world, state, make, reader);
            expectNoSecondState(variant, size, world);
          },
        );
      }
    }
  },
);

describe(
  "xdstp: a real size, a relay",
  { meta: { ...meta, suite: "a real size, a relay" } },
  () => {
    for (const variant of variants) {
      for (const { title, make, read } of wants) {
        it.for(sizeCases.map((size) => [titleOf(size), size] as const))(
          `has ${title} of %s, then one change, and comes back, and is not cut (upstream ${variant}/ads)`,
          { timeout: 3 * patienceMs },
          async ([, size]) => {
            const state = stateOf(size, make);
            const world = await useSizeWorld(size, state);
            const relay = await startRelay(world.link.port, 0, [
              "--opaque-key",
              "none",
              ...(variant === "sotw" ? ["--sotw"] : []),
            ]);
            onTestFinished(() => {
              expect(relay.ended).toBeUndefined();
            });
            const reader = read(
              useXdsClient(`127.0.0.1:${relay.port}`, { variant: "delta" }),
              state,
            );
            await follow(world, state, make, reader);
            expectNoSecondState(variant, size, world);
            expect(relay.events().filter(({ event }) => event === "cut")).toEqual([]);
          },
        );
      }
    }
  },
);
