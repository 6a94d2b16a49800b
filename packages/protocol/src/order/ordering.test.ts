import { describe, expect, it } from "vitest";
import { createTestContext } from "../../test/server-context.ts";
import type { ResourceType } from "@xdstp/core";
import type { OrderedType } from "./ordered-type.ts";
import { added } from "../../test/entries.ts";
import { type Holds, NO_HOLDS } from "./hold.ts";
import { createOrdering } from "./ordering.ts";

/** One name that waits since a time. */
function holds(since: number): Holds {
  const lacking = { typeUrl: "base", name: "c" };
  return new Map([
    [
      "r",
      {
        phase: "unaccepted",
        lacking,
        entry: added("r"),
        from: 0,
        since,
        at: 0,
        replaced: undefined,
      },
    ],
  ]);
}

const types: readonly ResourceType[] = [
  { typeUrl: "base", refersTo: ["top"] },
  { typeUrl: "top", follows: [{ typeUrl: "base", when: "accepted" }] },
  { typeUrl: "named", follows: [{ typeUrl: "base", when: "accepted" }], references: () => [] },
  { typeUrl: "ring-a", refersTo: ["ring-b"] },
  { typeUrl: "ring-b", refersTo: ["ring-a"] },
];

/** The state of a type that a test sets. */
interface Fake {
  pending: boolean;
  inFlight: boolean;
  taken: boolean;
  overdue: boolean;
  rejecting: boolean;
  answeredUpTo: number;
  unsentFrom: number;
  rejectedFrom: number;
  heldFrom: number;
  heldBase: number;
  knowsReferences: boolean;
  mayBeCold: boolean;
  isObsolete: boolean;
  waitsAsWhole: boolean;
  isBusy: boolean;
  heldBack: Holds;
}

/** Types of one stream that record the calls; what is sent stays in flight. */
function useOrdering(...typeUrls: readonly string[]) {
  const test = createTestContext();
  const log: string[] = [];
  const fakes = typeUrls.map((): Fake => ({
    pending: false,
    inFlight: false,
    taken: false,
    overdue: false,
    rejecting: false,
    answeredUpTo: Infinity,
    unsentFrom: Infinity,
    rejectedFrom: Infinity,
    heldFrom: Infinity,
    heldBase: Infinity,
    knowsReferences: true,
    mayBeCold: false,
    isObsolete: false,
    waitsAsWhole: false,
    isBusy: false,
    heldBack: NO_HOLDS,
  }));
  const send = (fake: Fake): void => {
    Object.assign(fake, {
      pending: false,
      taken: false,
      inFlight: true,
      answeredUpTo: 0,
      unsentFrom: Infinity,
      overdue: false,
    });
  };
  const ordered = fakes.map((fake, index): OrderedType => {
    const typeUrl = typeUrls[index] ?? "";
    return Object.assign(Object.create(fake) as Fake, {
      typeUrl,
      rank: index,
      lacks: () => false,
      mayRetry: false,
      retryRejected: () => undefined,
      awaitRepair: () => undefined,
      hasAccepted: () => false,
      awaits: () => false,
      removed: () => "never-sent" as const,
      isCold: () => false,
      misses: () => false,
      drain(upTo: number, isLimited = true) {
        log.push(`drain ${typeUrl} ${upTo}${isLimited ? "" : " without a limit"}`);
        send(fake);
      },
      take(upTo: number) {
        log.push(`take ${typeUrl} ${upTo}`);
        Object.assign(fake, { pending: false, taken: true, answeredUpTo: 0 });
      },
      putBack() {
        log.push(`put back ${typeUrl}`);
        Object.assign(fake, { pending: true, taken: false, answeredUpTo: Infinity });
      },
      releaseHolds() {
        log.push(`release holds of ${typeUrl}`);
      },
      release(upTo: number) {
        log.push(`release ${typeUrl} ${upTo}`);
        Object.assign(fake, { heldFrom: Infinity, heldBase: Infinity });
      },
    });
  });
  const context = {
    ...test.context,
    source: {
      ...test.context.source,
      revision: 9,
      descriptor: (typeUrl: string) => types.find((type) => type.typeUrl === typeUrl),
    },
  };
  const stream = {
    types: ordered,
    canSend: true,
    info: { id: 1, variant: "delta", peer: "p", node: undefined } as const,
    schedule: () => {
      log.push("schedule");
    },
  };
  const ordering = createOrdering(context, stream);
  const drain = (): readonly string[] => {
    log.length = 0;
    ordering.drain();
    return [...log];
  };
  const set = (typeUrl: string, more: Partial<Fake>): void => {
    Object.assign(fakes[typeUrls.indexOf(typeUrl)] ?? {}, more);
  };
  return { ...test, ordering, stream, drain, set };
}

describe("createOrdering()", () => {
  it("takes what has to wait when its base goes out, and sends it when that is answered [S-ORD-2]", () => {
    const { set, drain } = useOrdering("base", "top");
    set("base", { pending: true });
    set("top", { pending: true });
    expect(drain()).toEqual(["drain base Infinity", "take top Infinity"]);
    expect(drain()).toEqual([]);
    set("base", { inFlight: false, answeredUpTo: Infinity });
    expect(drain()).toEqual(["drain top Infinity"]);
  });

  it("sends at once what follows nothing that is open [S-ORD-4]", () => {
    const { set, drain } = useOrdering("base", "top");
    set("top", { pending: true });
    expect(drain()).toEqual(["drain top Infinity"]);
    set("base", { inFlight: true, answeredUpTo: 9 });
    set("top", { pending: true, inFlight: false });
    expect(drain()).toEqual(["drain top Infinity"]);
  });

  it("takes all types of the relation at once, also one whose response is in flight [S-ORD-4]", () => {
    const { set, drain } = useOrdering("base", "top");
    set("base", { pending: true, inFlight: true, answeredUpTo: 3, unsentFrom: 3 });
    set("top", { pending: true, unsentFrom: 2 });
    expect(drain()).toEqual(["take base 2", "take top Infinity"]);
    set("base", { inFlight: false });
    expect(drain()).toEqual(["drain base 0"]);
  });

  it("lets news wait for the next cut, though their type is free, and does not wait for them [S-ORD-4]", () => {
    const { set, drain } = useOrdering("base", "top");
    set("base", { inFlight: true, answeredUpTo: 3 });
    set("top", { pending: true });
    expect(drain()).toEqual(["take top Infinity"]);
    set("base", { inFlight: false, answeredUpTo: Infinity, pending: true, unsentFrom: 3 });
    expect(drain()).toEqual(["drain top Infinity", "schedule"]);
    expect(drain()).toEqual(["drain base 0"]);
  });

  it("takes a cut anew for an overdue response that has news, and for the correction of a rejected one [S-ORD-4] [S-ACK-16]", () => {
    for (const why of [{ overdue: true }, { rejecting: true }]) {
      const { set, drain } = useOrdering("base", "top");
      set("base", { inFlight: true, answeredUpTo: 3 });
      set("top", { pending: true });
      drain();
      set("base", { inFlight: false, pending: true, ...why });
      expect(drain()).toEqual([
        "put back top",
        "schedule",
        "drain base Infinity",
        "take top Infinity",
      ]);
    }
  });

  it("leaves a cut alone while the type with news has to wait itself, or it would be taken anew for ever", () => {
    const { set, drain } = useOrdering("base", "top");
    set("base", { inFlight: true, answeredUpTo: 3, rejecting: true });
    set("top", { pending: true });
    expect(drain()).toEqual(["take top Infinity"]);
    set("base", { pending: true });
    expect(drain()).toEqual([]);
  });

  it("lets a type wait for a rejected one where nobody knows what refers to it, 15 s at most [S-ORD-4]", () => {
    const { set, drain, clock, events } = useOrdering("base", "top");
    set("base", { rejecting: true, rejectedFrom: 3 });
    set("top", { pending: true, knowsReferences: false });
    expect(drain()).toEqual(["take top Infinity"]);
    clock.advance(15_000);
    expect(events).toMatchObject([{ kind: "order-expired", what: "cut", typeUrls: ["top"] }]);
    expect(drain()).toEqual(["drain top Infinity"]);
    set("top", { pending: true, inFlight: false });
    expect(drain()).toEqual(["take top Infinity"]);
  });

  it("looks at the names that wait with each drain, and shows that their time was over [S-ORD-4]", () => {
    const { set, drain, clock, events } = useOrdering("base", "named");
    set("named", { heldBack: holds(clock.now()) });
    expect(drain()).toEqual(["release holds of named"]);
    clock.advance(14_999);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toMatchObject([{ kind: "order-expired", what: "cut", typeUrls: ["named"] }]);
  });

  it("takes what may have to wait by name, and sends it at once: each name waits for itself [S-ORD-4]", () => {
    const { set, drain } = useOrdering("base", "named");
    set("base", { pending: true });
    set("named", { pending: true });
    expect(drain()).toEqual(["drain base Infinity", "drain named Infinity"]);
    set("base", { isBusy: true });
    set("named", { pending: true, inFlight: false });
    expect(drain()).toEqual(["take named Infinity", "drain named Infinity"]);
    set("base", { isBusy: false, mayBeCold: true });
    set("named", { pending: true, inFlight: false });
    expect(drain()).toEqual(["take named Infinity", "drain named Infinity"]);
    set("base", { mayBeCold: false });
    set("named", { pending: true, inFlight: false });
    expect(drain()).toEqual(["drain named Infinity"]);
  });

  it("lets a response wait as a whole of which too many names would wait, 15 s at most [S-ORD-4]", () => {
    const { set, drain, clock, events } = useOrdering("base", "named");
    set("base", { isBusy: true });
    set("named", { pending: true, waitsAsWhole: true });
    expect(drain()).toEqual(["take named Infinity"]);
    expect(drain()).toEqual([]);
    set("named", { pending: true, rejecting: true });
    expect(drain()).toEqual(["put back named", "take named Infinity"]);
    set("named", { rejecting: false });
    clock.advance(15_000);
    expect(events).toMatchObject([{ kind: "order-expired", what: "cut", typeUrls: ["named"] }]);
    expect(drain()).toEqual(["drain named Infinity without a limit"]);
  });

  it.each<readonly [why: string, limit: number, referrer: Partial<Fake>]>([
    ["has not answered", 4, { inFlight: true, answeredUpTo: 4 }],
    ["has not been sent all", 5, { inFlight: true, pending: true, answeredUpTo: 7, unsentFrom: 5 }],
    ["has rejected", 6, { rejectedFrom: 6 }],
    ["keeps something that is gone", 6, { heldFrom: 9, heldBase: 6, inFlight: true }],
  ])("removes up to what a referrer knows of that %s [S-ORD-3]", (_, limit, referrer) => {
    const { set, drain } = useOrdering("base", "top");
    set("top", referrer);
    set("base", { pending: true });
    expect(drain()[0]).toBe(`drain base ${limit}`);
    const { set: setHeld, drain: drainHeld } = useOrdering("base", "top");
    setHeld("top", referrer);
    setHeld("base", { heldFrom: limit });
    expect(drainHeld()).toContain(`release base ${limit}`);
    setHeld("base", { heldFrom: limit + 1 });
    expect(drainHeld()).not.toContain(`release base ${limit}`);
  });

  it.each<Partial<Fake>>([{ inFlight: true }, { taken: true }])(
    "releases nothing of a type that is %j",
    (busy) => {
      const { set, drain } = useOrdering("base", "top");
      set("base", { heldFrom: 3, ...busy });
      expect(drain().filter((line) => line.startsWith("release"))).toEqual([]);
    },
  );

  it("waits 15 s at most for who does not answer, but on for who has rejected: it uses the old state [S-ORD-4]", () => {
    const silent = useOrdering("base", "top");
    silent.set("base", { heldFrom: 5 });
    silent.set("top", { inFlight: true, answeredUpTo: 4 });
    expect(silent.drain()).toEqual([]);
    silent.clock.advance(15_000);
    expect(silent.events).toMatchObject([
      { kind: "order-expired", what: "removals", typeUrls: ["base"] },
    ]);
    expect(silent.drain()).toEqual(["release base Infinity"]);
    const rejecting = useOrdering("base", "top");
    rejecting.set("base", { heldFrom: 5 });
    rejecting.set("top", { rejectedFrom: 4 });
    expect(rejecting.drain()).toEqual([]);
    rejecting.clock.advance(15_000);
    expect(rejecting.drain()).toEqual([]);
  });

  it("counts the time of removals anew after some have gone", () => {
    const { set, drain, clock, events } = useOrdering("base", "top");
    set("base", { heldFrom: 5 });
    set("top", { inFlight: true, answeredUpTo: 4 });
    drain();
    clock.advance(10_000);
    set("top", { answeredUpTo: 5 });
    expect(drain()).toEqual(["release base 5"]);
    set("base", { heldFrom: 6 });
    drain();
    clock.advance(14_999);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toHaveLength(1);
  });

  it("ends a circle of removals that wait for each other, but not while one of them is busy or rejected", () => {
    const { set, drain } = useOrdering("ring-a", "ring-b");
    set("ring-a", { heldFrom: 5, heldBase: 4 });
    set("ring-b", { heldFrom: 5, heldBase: 4, rejectedFrom: 2 });
    expect(drain()).toEqual([]);
    set("ring-b", { rejectedFrom: Infinity });
    expect(drain()).toEqual(["release ring-a Infinity", "release ring-b Infinity"]);
  });

  it("sends nothing more where the wire takes no more", () => {
    const { set, stream, drain } = useOrdering("base", "top");
    set("base", { pending: true });
    stream.canSend = false;
    expect(drain()).toEqual([]);
  });

  it("puts back on demand what was taken, while its time runs on [S-ORD-4]", () => {
    const { set, ordering, drain, clock, events } = useOrdering("base", "top");
    set("base", { inFlight: true, answeredUpTo: 3 });
    set("top", { pending: true });
    drain();
    clock.advance(10_000);
    ordering.thaw();
    expect(drain()).toEqual(["take top Infinity"]);
    clock.advance(5_000);
    expect(events).toMatchObject([{ kind: "order-expired" }]);
  });
});
