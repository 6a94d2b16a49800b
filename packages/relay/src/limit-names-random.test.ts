import type { Interest, ResourceFeed, ResourceSink } from "@xdstp/core";
import { createFakeClock, createSeededRandom } from "@xdstp/testing";
import { expect, it } from "vitest";

import { limitNames } from "./limit-names.ts";
import { NameRoom, type NameLimits } from "./name-room.ts";

const SEEDS = Math.max(200, Math.round(20_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000_000);

const types = ["t/One", "t/Two", "t/Three"];
const names = ["a", "b", "c", "d", "xdstp://acme/t/x/*", "xdstp://acme/t/y/*", "a-long-name"];
const limits: NameLimits = {
  ofType: 3,
  ofAll: 5,
  globs: 1,
  bytesOfType: 45,
  bytesOfAll: 70,
  knownTypes: new Set(types.slice(0, 2)),
  otherTypes: 1,
};

const forever = async (): Promise<void> => new Promise(() => undefined);

/** Returns a sink that only handles `unavailable`. */
function sinkOf(unavailable: ResourceSink["unavailable"]): ResourceSink {
  return {
    commit: () => {
      throw new Error("nothing is committed");
    },
    held: () => [],
    unavailable,
  };
}

/**
 * A server that counts the added names of a request before it removes others, and that counts a
 * removed name for nearly a second more.
 */
function createStrictServer(now: () => number): {
  readonly feed: ResourceFeed;
  readonly subscribed: Map<string, Interest>;
} {
  const subscribed = new Map<string, Interest>();
  const left: { readonly typeUrl: string; readonly interest: Interest; readonly at: number }[] = [];
  const feed: ResourceFeed = {
    run: forever,
    want(typeUrl, added, dropped) {
      for (const { name } of dropped) expect(subscribed.has(`${typeUrl} ${name}`)).toBe(true);
      for (const interest of added)
        expect(subscribed.has(`${typeUrl} ${interest.name}`)).toBe(
          dropped.some(({ name }) => name === interest.name),
        );
      const room = new NameRoom(limits);
      const counted = new Map(subscribed);
      for (const one of left)
        if (now() - one.at < 1_000)
          counted.set(`${one.typeUrl} ${one.interest.name}`, one.interest);
      for (const interest of added) counted.set(`${typeUrl} ${interest.name}`, interest);
      for (const [key, interest] of counted) {
        const [type = ""] = key.split(" ");
        expect(room.lack(type, interest)).toBeUndefined();
        room.take(type, interest);
      }
      for (const interest of dropped) {
        subscribed.delete(`${typeUrl} ${interest.name}`);
        left.push({ typeUrl, interest, at: now() });
      }
      for (const interest of added) subscribed.set(`${typeUrl} ${interest.name}`, interest);
    },
  };
  return { feed, subscribed };
}

function runSeed(seed: number): void {
  const random = createSeededRandom(seed);
  const chance = (percent: number): boolean => random.below(100) < percent;
  const clock = createFakeClock();
  const { feed, subscribed } = createStrictServer(() => clock.now());
  const limited = limitNames(feed, limits, clock, () => undefined);
  const reported = new Set<string>();
  const wanted = new Map<string, Interest>();
  const unavailable: ResourceSink["unavailable"] = (
    { typeUrl = "", interest = { name: "" } },
    error,
  ) => {
    const key = `${typeUrl} ${interest.name}`;
    expect([key, reported.has(key)]).toEqual([key, error === undefined]);
    if (error === undefined) reported.delete(key);
    else reported.add(key);
  };
  void limited.run(sinkOf(unavailable), new AbortController().signal);
  for (let step = 0; step < 40; step++) {
    if (chance(20)) {
      clock.advance(random.pick([1, 300, 999, 1_000]));
      continue;
    }
    const typeUrl = random.pick(types);
    const chosen = names.filter(() => chance(30));
    const dropped = chosen
      .filter((name) => wanted.has(`${typeUrl} ${name}`))
      .map((name): Interest => ({ name }));
    const added = names
      .filter((name) =>
        wanted.has(`${typeUrl} ${name}`) ? chosen.includes(name) && chance(20) : chance(30),
      )
      .map((name): Interest => ({ name }));
    for (const { name } of dropped) wanted.delete(`${typeUrl} ${name}`);
    for (const interest of added) wanted.set(`${typeUrl} ${interest.name}`, interest);
    if (added.length + dropped.length > 0) limited.want?.(typeUrl, added, dropped);
  }
  clock.advance(1_000);
  const waiting = [...wanted.keys()].filter((key) => !subscribed.has(key));
  expect([...subscribed.keys()].filter((key) => !wanted.has(key))).toEqual([]);
  expect([...reported].sort()).toEqual([...waiting].sort());
  for (const typeUrl of types)
    for (const globs of [false, true])
      expectNoRoom(
        subscribed,
        typeUrl,
        waiting.filter((key) => key.startsWith(`${typeUrl} `) && key.endsWith("*") === globs),
      );
}

/** Checks that the name that has waited longest has no room. */
function expectNoRoom(
  subscribed: ReadonlyMap<string, Interest>,
  typeUrl: string,
  [first]: readonly string[],
): void {
  if (first === undefined) return;
  const room = new NameRoom(limits);
  for (const [key, interest] of subscribed) room.take(key.split(" ")[0] ?? "", interest);
  expect([first, room.lack(typeUrl, { name: first.slice(typeUrl.length + 1) })]).not.toEqual([
    first,
    undefined,
  ]);
}

it(`subscribes what fits and never more, gives the room of everything back, and reports exactly what waits (${SEEDS} seeds) [S-LIM-4]`, () => {
  for (let seed = firstSeed; seed < firstSeed + SEEDS; seed++) {
    try {
      runSeed(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

it("costs the same for each name, however many wait", () => {
  const clock = createFakeClock();
  let asked = 0;
  const told: string[] = [];
  const limited = limitNames(
    {
      run: forever,
      want: (_, added) => {
        asked += added.length;
      },
    },
    { ...limits, ofType: 1_000, ofAll: 1_000, bytesOfType: Infinity, bytesOfAll: Infinity },
    clock,
    (_, late) => {
      told.push(...late);
    },
  );
  void limited.run(
    sinkOf(() => undefined),
    new AbortController().signal,
  );
  for (let index = 0; index < 101_000; index++)
    limited.want?.("t/One", [{ name: `n${index}` }], []);
  expect([asked, told.length]).toEqual([1_000, 100_000]);
});
