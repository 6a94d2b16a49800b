import { describe, expect, it } from "vitest";
import { added, removed } from "../../test/entries.ts";
import { answeredUpTo, isRejectedAndNew, rejectedFrom } from "./answered-up-to.ts";
import type { Batch } from "./batch.ts";
import { createExchange, type Exchange, type Rejected } from "./exchange.ts";

const inFlight = (base: number, asked = false): Partial<Exchange> => ({
  inFlight: { base, asked } as Batch,
});
const exchangeWith = (more: Partial<Exchange>): Exchange => ({ ...createExchange(), ...more });

describe("answeredUpTo()", () => {
  it("is everything where nothing is sent or taken [S-ORD-4]", () => {
    expect(answeredUpTo(exchangeWith({ accepted: 3 }), undefined)).toBe(Infinity);
  });

  it("is the base of what is in flight or taken, whichever is less [S-ORD-4]", () => {
    expect(answeredUpTo(exchangeWith(inFlight(4)), undefined)).toBe(4);
    expect(answeredUpTo(exchangeWith(inFlight(4)), { base: 6, asked: false })).toBe(4);
    expect(answeredUpTo(exchangeWith(inFlight(8)), { base: 6, asked: false })).toBe(6);
  });

  it("is nothing where either answers a request: what was asked for may be older than any revision", () => {
    expect(answeredUpTo(exchangeWith(inFlight(4, true)), undefined)).toBe(-1);
    expect(answeredUpTo(exchangeWith(inFlight(4)), { base: 6, asked: true })).toBe(-1);
  });
});

describe("isRejectedAndNew()", () => {
  const rejected: Rejected = {
    answered: new Set(),
    changed: new Set(),
    named: new Set(),
    base: 5,
    asked: false,
    entries: [],
    newestEntries: [],
    missed: [],
    phase: "kept",
  };

  it("holds for what exists since after the last state before a rejection [S-ORD-4]", () => {
    expect(isRejectedAndNew(exchangeWith({ rejected }), added("a", 6))).toBe(true);
    expect(isRejectedAndNew(exchangeWith({ rejected }), added("a", 5))).toBe(false);
  });

  it("does not hold for what is gone, or where nothing is rejected", () => {
    expect(isRejectedAndNew(exchangeWith({ rejected }), removed("a", 6))).toBe(false);
    expect(isRejectedAndNew(exchangeWith({}), added("a", 6))).toBe(false);
  });
});

describe("rejectedFrom()", () => {
  const rejected: Rejected = {
    answered: new Set(),
    changed: new Set(),
    named: new Set(),
    base: 5,
    asked: false,
    entries: [],
    newestEntries: [],
    missed: [],
    phase: "kept",
  };

  it("is the base of what was rejected, or since when something is held back, whichever is less [S-ORD-4]", () => {
    expect(rejectedFrom(exchangeWith({}), Infinity)).toBe(Infinity);
    expect(rejectedFrom(exchangeWith({ rejected }), Infinity)).toBe(5);
    expect(rejectedFrom(exchangeWith({ rejected }), 3)).toBe(3);
  });

  it("is nothing where what was rejected answered a request: the client may have an older state of it [S-ORD-4]", () => {
    expect(rejectedFrom(exchangeWith({ rejected: { ...rejected, asked: true } }), Infinity)).toBe(
      -1,
    );
  });
});
