import { describe, expect, test } from "vitest";
import type { Scenario } from "../scenario.ts";
import { measureStorm } from "./measure-storm.ts";

const storm: Scenario = {
  variant: "delta",
  clients: 6,
  connections: 6,
  resources: 20,
  storm: { versions: false },
  warmUpRounds: 0,
  rounds: 1,
};

describe("measureStorm()", () => {
  test.each(["floor", "xdstp"] as const)(
    "brings everyone everything from %s, and no resource to who lists all",
    async (contender) => {
      const { signal } = new AbortController();
      const without = await measureStorm(contender, storm, signal);
      const listed = await measureStorm(contender, { ...storm, storm: { versions: true } }, signal);
      expect(without.startBytes).toBeGreaterThan(20 * 330);
      expect(listed.startBytes).toBeGreaterThan(0);
      expect(listed.startBytes).toBeLessThan(150);
      expect(Math.min(without.cpu, without.ms, without.peakRss)).toBeGreaterThan(0);
    },
  );

  test("fails where a resource comes to who lists all", async () => {
    const run = measureStorm(
      "connect",
      { ...storm, storm: { versions: true } },
      new AbortController().signal,
    );
    await expect(run).rejects.toThrow("had 20 resources where 0 were due");
  });
});
