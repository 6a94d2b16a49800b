import { createSeededRandom, shrinkHistory } from "@xdstp/testing";

import { describeDeed, randomDeeds, type TimedDeed } from "./deeds.ts";
import { createModelServer } from "./model-server.ts";
import { ModelWorld, type Violation } from "./model-world.ts";
import type { CreateSupply } from "./supply.ts";

/** Options of a model. */
export interface ModelOptions {
  /**
   * Returns a function that creates the servers, called once for each world. Default: servers
   * without a wire.
   */
  readonly supply?: () => CreateSupply;
  /** True if some globs have alternatives. Default: true. */
  readonly globs?: boolean;
  /** The number of federations that share the servers and the requested names. Default: 1. */
  readonly federations?: number;
}

/** The maximum number of parts of a history that are tried. */
const TRIES = 600;

/**
 * Runs a world of this seed through `count` steps. Returns the shortest history that still fails,
 * or `undefined` if all invariants hold.
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

/** Splits a transaction into transactions with fewer changes. */
function simpler({ at, deed }: TimedDeed): readonly TimedDeed[] {
  if (deed.kind !== "put" || deed.changes.length < 2) return [];
  return deed.changes.map((_, index) => ({
    at,
    deed: { ...deed, changes: deed.changes.toSpliced(index, 1) },
  }));
}
