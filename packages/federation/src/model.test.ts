import { expect, it } from "vitest";

import { failedSeeds } from "../test/model/failed-seeds.ts";
import { runModel } from "../test/model/run-model.ts";

const count = Math.max(8, Math.round(400 * Number(process.env.XDSTP_SCALE ?? "0.01")));
const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000_000);
const DEEDS = 300;

it(`ends each watch on what a direct walk over the stores finds, shows nothing else meanwhile, and leaves nothing behind (${count} new seeds) [C-REDIR-2, C-REDIR-3, C-REDIR-4, C-ALT-2, C-ALT-4, C-LIST-7, C-GRPC-6]`, async () => {
  console.log(`model of federation: seeds from ${firstSeed} on`);
  for (let seed = firstSeed; seed < firstSeed + count; seed++)
    expect(await runModel(seed, DEEDS)).toBeUndefined();
});

it(`does so also where two federations share the servers, and each name is asked for through one of them or both (${Math.ceil(count / 2)} new seeds) [C-AGG-1]`, async () => {
  for (let seed = firstSeed; seed < firstSeed + count / 2; seed++)
    expect(await runModel(seed, DEEDS, { federations: 2 })).toBeUndefined();
});

it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, deeds, globs = false }) => {
  expect(await runModel(seed, deeds, { globs })).toBeUndefined();
});
