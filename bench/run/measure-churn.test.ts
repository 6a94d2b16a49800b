import { expect, test } from "vitest";
import { measureChurn } from "./measure-churn.ts";

test.each(["floor", "xdstp"] as const)(
  "measureChurn() brings the newest of %s to all who read, past those who do not",
  async (contender) => {
    const churn = { changesPerSecond: 500, warmUpChanges: 50, changes: 100, mutedOneIn: 3 };
    const { late, settled, p50, p99, heapGrowth } = await measureChurn(
      contender,
      {
        variant: "delta",
        clients: 6,
        connections: 6,
        resources: 20,
        churn,
        warmUpRounds: 0,
        rounds: 0,
      },
      new AbortController().signal,
    );
    expect(late).toBeLessThanOrEqual(1);
    expect(settled).toBeGreaterThanOrEqual(0);
    expect(p99).toBeGreaterThanOrEqual(p50);
    expect(heapGrowth).toBeGreaterThan(0);
  },
);
