import type { SeededRandom } from "@xdstp/testing";

import type { Action, Change, Deed } from "./action.ts";
import { BAD, CLUSTERS, FLAGS, GATES, REFERS, ROUTES, typeUrls } from "./types.ts";
import { toldIn, type WorldShape } from "./world-shape.ts";

/** Deeds drawn from a seed, without a look at the world: a part of a history is a history too. */
export interface RandomActions {
  /** Some deeds and a rest. */
  round(): readonly Action[];
}

/** The number of deeds in a round. */
const ROUND = 80;

/** Longer than removals are remembered by default. */
const BEYOND_TOMBSTONES = 660_000;

export function createRandomActions(random: SeededRandom, shape: WorldShape): RandomActions {
  let versions = 0;
  const nextText = (typeUrl: string): string => {
    const refers = typeUrl === ROUTES ? `${REFERS}${nameOf(random, CLUSTERS)}` : "";
    return `v${++versions}${random.once(10) ? BAD : ""}${refers}`;
  };
  const action = (): Action => ({ waitMs: waitOf(random), deed: deedOf(random, shape, nextText) });
  return {
    round: () => [
      ...Array.from({ length: ROUND }, action),
      { waitMs: waitOf(random), deed: { kind: "rest" } },
    ],
  };
}

function waitOf(random: SeededRandom): number {
  if (random.once(4_000)) return BEYOND_TOMBSTONES;
  if (random.once(100)) return random.between(5_000, 40_000);
  if (random.once(8)) return random.between(100, 3_000);
  return random.below(60);
}

function deedOf(
  random: SeededRandom,
  shape: WorldShape,
  nextText: (typeUrl: string) => string,
): Deed {
  const client = random.below(shape.clients.length + (shape.hops?.length ?? 0));
  const origin = random.below(shape.origins);
  const lot = random.below(100);
  if (lot < 45) return { kind: "commit", origin, changes: changesOf(random, nextText) };
  if (lot < 85) return interestOf(random, shape, client, lot < 70 ? "watch" : "unwatch");
  if (lot < 87) return { kind: random.pick(["come", "come", "leave"] as const), client };
  if (lot < 89)
    return random.once(4)
      ? { kind: "stop", origin, crash: random.once(2) }
      : { kind: "start", origin };
  return faultOf(random, client);
}

function faultOf(random: SeededRandom, client: number): Deed {
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return {
        kind: "cut",
        client,
        told: random.pick(["both", "both", "client", "server", "neither"] as const),
      };
    case 3:
    case 4:
    case 5:
      return {
        kind: "stall",
        client,
        ms: random.once(100)
          ? BEYOND_TOMBSTONES
          : random.between(50, random.once(4) ? 25_000 : 2_000),
      };
    case 6:
    case 7:
      return {
        kind: "slow",
        client,
        side: random.pick(["client", "server"] as const),
        ms: random.pick([0, 50, 500]),
      };
    default:
      return { kind: "duplicate", client };
  }
}

function changesOf(random: SeededRandom, nextText: (typeUrl: string) => string): readonly Change[] {
  const changes = new Map<string, Change>();
  for (let left = random.once(20) ? 30 : random.between(1, 4); left > 0; left--) {
    const typeUrl = random.pick(typeUrls);
    const name = nameOf(random, typeUrl);
    changes.set(
      `${typeUrl} ${name}`,
      random.once(3)
        ? { typeUrl, name }
        : { typeUrl, name, text: nextText(typeUrl), ...extrasOf(random, typeUrl, name) },
    );
  }
  return [...changes.values()];
}

function extrasOf(
  random: SeededRandom,
  typeUrl: string,
  name: string,
): Pick<Change, "ttlMs" | "alias"> {
  if (typeUrl !== FLAGS && typeUrl !== GATES) return {};
  const ttl = random.once(8) ? { ttlMs: random.pick([9_000, 30_000]) } : {};
  const alias =
    typeUrl === FLAGS && !name.includes("/") && random.once(3) ? { alias: `also-${name}` } : {};
  return { ...ttl, ...alias };
}

function interestOf(
  random: SeededRandom,
  shape: WorldShape,
  client: number,
  kind: "watch" | "unwatch",
): Deed {
  const typeUrl = random.pick(typeUrls);
  const name = wantedOf(random, typeUrl);
  const asked = shape.clients[client];
  const isSotw = asked !== undefined && toldIn(shape, asked) === "sotw";
  // SotW does not send aliases, and a glob is requested only of full state (C-GLOB-10).
  const plain =
    isSotw && (name.startsWith("also-") || (name.includes("*") && name !== "*"))
      ? nameOf(random, typeUrl)
      : name;
  return { kind, client, typeUrl, name: plain };
}

/** A name as it is stored: opaque, or of one of two collections. */
function nameOf(random: SeededRandom, typeUrl: string): string {
  return random.once(2)
    ? `n${random.below(6)}`
    : `xdstp://a/${messageName(typeUrl)}/${random.pick(["p", "q"])}/${random.below(5)}`;
}

/** A name as it is asked for: also in another spelling, an alias, a glob, the wildcard. */
function wantedOf(random: SeededRandom, typeUrl: string): string {
  switch (random.below(10)) {
    case 0:
      return random.once(2) ? "*" : nameOf(random, typeUrl);
    case 1:
      return `xdstp://a/${messageName(typeUrl)}/p/*`;
    case 2:
      return `xdstp://a/${messageName(typeUrl)}/q/%3${random.below(5)}`;
    case 3:
      return typeUrl === FLAGS ? `also-n${random.below(6)}` : nameOf(random, typeUrl);
    default:
      return nameOf(random, typeUrl);
  }
}

function messageName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.indexOf("/") + 1);
}
