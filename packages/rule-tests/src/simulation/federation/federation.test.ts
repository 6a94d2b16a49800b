import { describe, expect, it } from "vitest";

import { neverUnsubscribe, presentToAll, type FederationDefect } from "./defects.ts";
import { failedSeeds } from "./failed-seeds.ts";
import { runFederation } from "./run-federation.ts";

/** New ones in each run; the whole size has a program of its own (../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? Date.now() % 1_000_000_000);
const count = 2;

describe("a federation over three authorities in a simulated network", () => {
  it(`ends each watch on what a direct walk over the stores finds, mixes nothing, and leaves no subscription behind (${count} new seeds) [C-REDIR-3, C-REDIR-4, C-ALT-2, C-ALT-4, C-GRPC-6]`, async () => {
    console.log(`simulation of federation: seeds from ${firstSeed} on`);
    for (let seed = firstSeed; seed < firstSeed + count; seed++)
      expect(await runFederation(seed)).toBeUndefined();
  });

  it(`does so also where two federations share the servers, each of which has one stream (${count} new seeds) [C-AGG-1]`, async () => {
    for (let seed = firstSeed; seed < firstSeed + count; seed++)
      expect(await runFederation(seed, undefined, 2)).toBeUndefined();
  });

  it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, federations }) => {
    expect(await runFederation(seed, undefined, federations)).toBeUndefined();
  });
});

describe("defects of a federation that are turned on", () => {
  const defects: readonly (readonly [
    what: string,
    defect: () => FederationDefect,
    rule: string,
  ])[] = [
    [
      "versions of one server that are presented to another",
      presentToAll,
      "every watch ends on what a direct walk finds",
    ],
    [
      "a name that redirects led to and is not unsubscribed",
      neverUnsubscribe,
      "no subscription is left behind",
    ],
  ];
  it.each(defects)(
    "%s make a seed red, and the shortest history is short",
    async (_, defect, rule) => {
      for (let seed = 12; seed < 60; seed++) {
        const failure = await runFederation(seed, defect);
        if (failure?.includes(rule) !== true) continue;
        console.log(failure);
        expect(await runFederation(seed)).toBeUndefined();
        expect(failure.split("\n").length).toBeLessThan(40);
        return;
      }
      expect.unreachable("all seeds are green");
    },
  );
});
