import { describe, expect, test } from "vitest";
import { resourcesPerClient, type Scenario } from "../scenario.ts";
import { measure } from "./measure.ts";

const small: Scenario = {
  variant: "delta",
  clients: 6,
  connections: 3,
  resources: 4,
  warmUpRounds: 1,
  rounds: 2,
};
const byName = { perClient: 2, distinct: 4, changesPerRound: 2 };

describe("measure()", () => {
  test.each([
    ["xdstp", { ...small, variant: "sotw", tls: true }],
    ["connect", small],
    ["xdstp", { ...small, names: byName }],
    ["floor", { ...small, names: byName, tls: true }],
  ] as const)("runs %s from start to end", async (contender, scenario) => {
    const { startBytes, pushBytes, p50, p99, cpuPerPush } = await measure(
      contender,
      scenario,
      new AbortController().signal,
    );
    const ofStart = 470 * resourcesPerClient(scenario);
    expect(startBytes).toBeGreaterThan(ofStart * 0.7);
    expect(startBytes).toBeLessThan(ofStart * 1.5);
    // A push of SotW is the full state.
    if (scenario.variant === "sotw") expect(pushBytes / startBytes).toBeCloseTo(1, 1);
    expect(pushBytes).toBeGreaterThan(300);
    expect(p99).toBeGreaterThanOrEqual(p50);
    expect(cpuPerPush).toBeGreaterThan(0);
  });

  test("ends at its deadline", async () => {
    const deadline = new AbortController();
    const run = measure("xdstp", small, deadline.signal);
    deadline.abort(new Error("stopped at its deadline"));
    await expect(run).rejects.toThrow("stopped at its deadline");
  });
});
