import { describe, expect, it } from "vitest";
import { createTestContext, type TestContext } from "../../test/server-context.ts";
import type { Batch } from "./batch.ts";
import { createExchange, type ExchangeOwner, recordAnswer } from "./exchange.ts";
import { statusOf, type TypeProgress } from "./status-of.ts";
import type { Hold } from "../order/hold.ts";
import { added } from "../../test/entries.ts";

const atRest: TypeProgress = {
  subscriptions: 1,
  wildcard: true,
  answered: true,
  updates: false,
  unsettled: false,
};
const bad = { code: 3, message: "no" };

function useOwner(): TestContext & {
  readonly owner: ExchangeOwner;
  readonly answer: (error?: typeof bad) => void;
} {
  const test = createTestContext();
  const stream = { id: 1, variant: "delta", peer: "p", node: undefined } as const;
  const owner: ExchangeOwner = {
    context: test.context,
    stream,
    typeUrl: "t",
    type: undefined,
    exchange: createExchange(),
  };
  const answer = (error?: typeof bad): void => {
    const origin = {
      answered: new Set<never>(),
      changed: new Set<never>(),
      named: new Set<never>(),
    };
    owner.exchange.inFlight = {
      first: 1,
      last: 1,
      newest: 1,
      base: 0,
      upTo: 1,
      version: "1",
      origin,
      entries: [],
    } as unknown as Batch;
    owner.exchange.rejected = undefined;
    recordAnswer(owner, 1, error, false);
  };
  return { ...test, owner, answer };
}

describe("statusOf()", () => {
  it("says when something was accepted last, and nothing before that [S-ACK-9]", () => {
    const { owner, answer, clock } = useOwner();
    expect(statusOf(owner, atRest)).not.toHaveProperty("acceptedAt");
    clock.advance(250);
    answer();
    clock.advance(100);
    answer(bad);
    expect(statusOf(owner, atRest)).toMatchObject({ state: "NACKED", acceptedAt: 250 });
  });

  it("says since when a client rejects, and when it did last; one that accepts begins anew [S-ACK-9]", () => {
    const { owner, answer, clock } = useOwner();
    clock.advance(10);
    answer(bad);
    clock.advance(10);
    answer(bad);
    expect(statusOf(owner, atRest).lastError).toMatchObject({ since: 10, at: 20 });
    answer();
    expect(statusOf(owner, atRest)).not.toHaveProperty("lastError");
    clock.advance(10);
    answer(bad);
    expect(statusOf(owner, atRest).lastError).toMatchObject({ since: 30, at: 30 });
  });

  it("shows what is held back, and for what, and that it lacks something [S-ORD-4]", () => {
    const { owner, clock } = useOwner();
    clock.advance(10);
    const lacking = { typeUrl: "t", name: "cluster" };
    const hold: Hold = {
      phase: "unaccepted",
      lacking,
      entry: added("route"),
      from: 0,
      since: clock.now() - 4,
      at: 0,
      replaced: undefined,
    };
    const heldBack = new Map([["route", hold]]);
    expect(statusOf(owner, { ...atRest, heldBack })).toMatchObject({
      state: "STALE",
      heldBack: [{ name: "route", for: "cluster", forType: "t", since: clock.wallTime() - 4 }],
    });
    expect(statusOf(owner, { ...atRest, heldBack: new Map() })).not.toHaveProperty("heldBack");
  });
});
