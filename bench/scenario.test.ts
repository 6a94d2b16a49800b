import { describe, expect, test } from "vitest";
import {
  changesOf,
  isMuted,
  namesOf,
  pushesPerRound,
  readersOf,
  resourcesDue,
  type NameSpread,
  type Scenario,
} from "./scenario.ts";

const spreads: readonly NameSpread[] = [
  { perClient: 100, distinct: 100_000, changesPerRound: 100 },
  { perClient: 100, distinct: 1000, changesPerRound: 10 },
  { perClient: 100, distinct: 100, changesPerRound: 1 },
];

describe("changesOf()", () => {
  test.each(spreads)(
    "changes in a round what no client has twice, for $distinct names",
    (names) => {
      const scenario: Scenario = {
        variant: "delta",
        clients: 1000,
        connections: 1000,
        resources: 100_000,
        names,
        warmUpRounds: 0,
        rounds: 0,
      };
      const held = Array.from(
        { length: scenario.clients },
        (_, client) => new Set(namesOf(names, client)),
      );
      for (const round of [0, 1, 17, 299]) {
        const changes = changesOf(scenario, round);
        const perClient = held.map((own) => changes.filter((index) => own.has(index)).length);
        expect(Math.max(...perClient)).toBe(1);
        expect(perClient.reduce((sum, count) => sum + count, 0)).toBe(pushesPerRound(scenario));
      }
    },
  );

  test("changes one resource for everyone where all ask for everything", () => {
    const scenario: Scenario = {
      variant: "sotw",
      clients: 7,
      connections: 7,
      resources: 100,
      warmUpRounds: 0,
      rounds: 0,
    };
    expect(
      new Set(Array.from({ length: 100 }, (_, round) => changesOf(scenario, round)[0])).size,
    ).toBe(100);
    expect(pushesPerRound(scenario)).toBe(7);
  });
});

describe("a scenario of churn or storm", () => {
  const plain: Scenario = {
    variant: "delta",
    clients: 25,
    connections: 25,
    resources: 100,
    warmUpRounds: 0,
    rounds: 0,
  };

  test("has readers and muted clients, one in so many", () => {
    const churn: Scenario = {
      ...plain,
      churn: { changesPerSecond: 1, warmUpChanges: 0, changes: 1, mutedOneIn: 10 },
    };
    const muted = Array.from({ length: 25 }, (_, client) => client).filter((client) =>
      isMuted(churn, client),
    );
    expect(muted).toEqual([9, 19]);
    expect(readersOf(churn)).toBe(23);
    expect([isMuted(plain, 9), readersOf(plain)]).toEqual([false, 25]);
  });

  test("owes nothing to clients that list all versions", () => {
    expect(
      [
        plain,
        { ...plain, storm: { versions: false } },
        { ...plain, storm: { versions: true } },
      ].map(resourcesDue),
    ).toEqual([100, 100, 0]);
  });
});
