import { createSeededRandom, shrinkHistory } from "@xdstp/testing";

import { describeDeed, randomDeeds, type TimedDeed } from "./deeds.ts";
import { createModelServer } from "./model-server.ts";
import { ModelWorld, type Violation } from "./model-world.ts";
import type { CreateSupply } from "./supply.ts";

/** What a model is made of. */
export interface ModelOptions {
  /** Makes what makes the servers, once for each world. Default: servers without wire. */
  readonly supply?: () => CreateSupply;
  /** Some globs have alternatives. Default: true. */
  readonly globs?: boolean;
  /** How many federations share the servers, and the names that are asked for. Default: 1. */
  readonly federations?: number;
}

/** How often a part of a history is looked at, at most. */
const TRIES = 600;

/**
 * Lets a world of this seed live through so many deeds. What fails is told by the shortest history that shows it; undefined: all has held.
 */
export async function runModel(
  seed: number,
  count: number,
  { supply = () => createModelServer, globs = true, federations = 1 }: ModelOptions = {},
): Promise<string | undefined> {
  const deeds = randomDeeds(createSeededRandom(seed).fork(2), count, globs);
  const first = await violationOf(seed, deeds, supply, federations);
  if (first === undefined) return undefined;
  let found = first;
  const shortest = await shrinkHistory(
    deeds,
    async (some) => {
      const violation = await violationOf(seed, some, supply, federations);
      if (violation?.rule !== first.rule) return false;
      found = violation;
      return true;
    },
    { simpler, tries: TRIES },
  );
  return [
    `seed ${seed}: it does not hold that ${found.rule}`,
    ...found.text.split("\n").map((line) => `  ${line}`),
    `  after ${shortest.length} deeds:`,
    ...shortest.map(describeDeed),
  ].join("\n");
}

async function violationOf(
  seed: number,
  deeds: readonly TimedDeed[],
  supply: () => CreateSupply,
  federations: number,
): Promise<Violation | undefined> {
  const world = new ModelWorld(seed, supply(), federations);
  await world.run(deeds);
  return world.violation;
}

/** Transactions of fewer changes. */
function simpler({ at, deed }: TimedDeed): readonly TimedDeed[] {
  if (deed.kind !== "put" || deed.changes.length < 2) return [];
  return deed.changes.map((_, index) => ({
    at,
    deed: { ...deed, changes: deed.changes.toSpliced(index, 1) },
  }));
}
