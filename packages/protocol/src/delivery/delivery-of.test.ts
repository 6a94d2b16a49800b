import { describe, expect, it } from "vitest";
import { added, removed } from "../../test/entries.ts";
import type { Entry, Topic } from "@xdstp/core";
import { deliveryOf } from "./delivery-of.ts";
import type { Batch } from "./batch.ts";
import { createExchange, type Exchange, type Rejected } from "./exchange.ts";
import type { Origin } from "./origin.ts";
import type { TypeView } from "./type-view.ts";

const topic = { interest: { name: "*" } } as Topic;
const other = { interest: { name: "other" } } as Topic;
const none: Origin = { answered: new Set(), changed: new Set(), named: new Set() };

function deliver(
  entry: Entry,
  exchange: Partial<Exchange>,
  isPending = false,
  removals: TypeView["removals"] = "absent",
): string {
  return deliveryOf(
    {
      removals,
      exchange: { ...createExchange(), ...exchange },
      isPending: () => isPending,
    },
    topic,
    entry,
  );
}

const batch = (more: Partial<Batch>): Batch =>
  ({ ...none, origin: none, entries: [], upTo: 9, base: 5, ...more }) as unknown as Batch;
const rejection = (more: Partial<Rejected>): Rejected => ({
  ...none,
  base: 5,
  asked: false,
  entries: [],
  newestEntries: [],
  missed: [],
  phase: "kept",
  ...more,
});

describe("deliveryOf()", () => {
  it.each<readonly [what: string, expected: string, entry: Entry, exchange: Partial<Exchange>]>([
    ["what was accepted", "accepted", added("a", 5), { accepted: 5 }],
    ["what is newer than all that was accepted", "pending", added("a", 6), { accepted: 5 }],
    [
      "what the unanswered response holds",
      "in-flight",
      added("a", 3),
      { accepted: 5, inFlight: batch({ entries: [added("a", 3)] }) },
    ],
    [
      "what the unanswered response holds in an older state",
      "pending",
      added("a", 8),
      { accepted: 5, inFlight: batch({ entries: [added("a", 6)] }) },
    ],
    [
      "a removal in an unanswered full state",
      "in-flight",
      removed("a", 8),
      { accepted: 5, inFlight: batch({ origin: { ...none, changed: new Set([topic]) } }) },
    ],
    [
      "a removal after an unanswered full state",
      "pending",
      removed("a", 10),
      { accepted: 5, inFlight: batch({ origin: { ...none, changed: new Set([topic]) } }) },
    ],
    [
      "what was accepted before the unanswered response",
      "accepted",
      added("a", 4),
      { accepted: 5, inFlight: batch({ origin: { ...none, changed: new Set([topic]) } }) },
    ],
    [
      "a name of a rejected answer",
      "rejected",
      added("a", 2),
      { accepted: 5, rejected: rejection({ answered: new Set([topic]) }) },
    ],
    [
      "a name sent alone and rejected",
      "rejected",
      added("a", 2),
      { accepted: 5, rejected: rejection({ named: new Set(["a"]) }) },
    ],
    [
      "a rejected change",
      "rejected",
      added("a", 6),
      { accepted: 5, rejected: rejection({ changed: new Set([topic]) }) },
    ],
    [
      "what had been accepted before a rejected change",
      "accepted",
      added("a", 5),
      { accepted: 5, rejected: rejection({ changed: new Set([topic]) }) },
    ],
    [
      "what was accepted alone while others are rejected",
      "accepted",
      added("a", 9),
      { accepted: 5, rejected: rejection({ changed: new Set([other]) }) },
    ],
  ])("tells of %s: %s [S-CSDS-4]", (_what, expected, entry, exchange) => {
    expect(deliver(entry, exchange)).toBe(expected);
  });

  it("does not take a removal that has to be said as sent with what the response does hold [S-CSDS-4]", () => {
    expect(
      deliver(
        removed("a", 8),
        { accepted: 5, inFlight: batch({ origin: { ...none, changed: new Set([topic]) } }) },
        false,
        "said",
      ),
    ).toBe("pending");
  });

  it("takes what waits to be sent as pending, whatever was answered before [S-CSDS-4]", () => {
    expect(deliver(added("a", 5), { accepted: 5 }, true)).toBe("pending");
    expect(
      deliver(
        added("a", 6),
        { accepted: 5, rejected: rejection({ changed: new Set([topic]) }) },
        true,
      ),
    ).toBe("pending");
  });
});
