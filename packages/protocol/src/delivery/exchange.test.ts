import { describe, expect, it } from "vitest";
import { added } from "../../test/entries.ts";
import { createTestContext, type TestContext } from "../../test/server-context.ts";
import type { Topic } from "@xdstp/core";
import {
  createExchange,
  isRepetition,
  longAccepted,
  recordAnswer,
  recordSent,
  type ExchangeOwner,
  type Outgoing,
} from "./exchange.ts";
import { createFrame } from "./frame.ts";
import type { Origin } from "./origin.ts";
import { statusOf, type TypeProgress } from "./status-of.ts";

const topic = (name: string): Topic => ({ interest: { name } }) as Topic;
const originOf = (named: readonly string[], ...changed: readonly Topic[]): Origin => ({
  answered: new Set(),
  changed: new Set(changed),
  named: new Set(named),
});

interface Subject extends TestContext {
  readonly owner: ExchangeOwner;
  /**
   * Sends a response with this number of parts, from a base up to a revision; returns their nonces.
   */
  readonly sendParts: (
    parts: number,
    base: number,
    upTo: number,
    more?: Partial<Outgoing>,
  ) => readonly number[];
  readonly send: (base: number, upTo: number, more?: Partial<Outgoing>) => number;
  readonly kinds: () => readonly string[];
}

function useExchange(): Subject {
  const test = createTestContext({ limits: { errorText: 8 } });
  const stream = { id: 1, variant: "delta", peer: "p", node: undefined } as const;
  const owner: ExchangeOwner = {
    context: test.context,
    stream,
    typeUrl: "t",
    type: undefined,
    exchange: createExchange(),
  };
  const sendParts: Subject["sendParts"] = (parts, base, upTo, more = {}) => {
    const list = Array.from({ length: parts }, () => createFrame([]));
    recordSent(owner, {
      frames: {
        list,
        version: `v${upTo}`,
        resources: 1,
        removed: 0,
        notSent: [],
        batch: undefined,
      },
      base,
      asked: false,
      upTo,
      origin: originOf([]),
      entries: [],
      ...more,
    });
    return list.map(({ nonce }) => nonce);
  };
  return {
    ...test,
    owner,
    sendParts,
    send: (base, upTo, more) => sendParts(1, base, upTo, more)[0] ?? 0,
    kinds: () => test.events.map(({ kind }) => kind),
  };
}

const bad = { code: 3, message: "rejected it" };

describe("recordSent() and recordAnswer()", () => {
  it("move the accepted revision and version by an ACK of the newest nonce", () => {
    const { owner, send, events } = useExchange();
    const nonce = send(0, 7);
    expect(owner.exchange).toMatchObject({
      accepted: 0,
      nonceSent: nonce,
      versionSent: "v7",
      versionAccepted: "",
    });
    expect(recordAnswer(owner, nonce, undefined, false)).toBe(true);
    expect(owner.exchange).toMatchObject({
      inFlight: undefined,
      accepted: 7,
      nonceAccepted: nonce,
      versionAccepted: "v7",
    });
    expect(events).toMatchObject([
      { kind: "push", version: "v7", nonce: String(nonce) },
      { kind: "ack", version: "v7", nonce: String(nonce) },
    ]);
  });

  it.each([-1, 0, 999_999_999])(
    "count a nonce that is not in flight, and change nothing by it: %d",
    (nonce) => {
      const { owner, send, events } = useExchange();
      const sent = send(0, 7);
      expect(recordAnswer(owner, nonce, undefined, false)).toBe(false);
      expect(recordAnswer(owner, nonce, bad, false)).toBe(false);
      expect(owner.exchange.inFlight).toMatchObject({ last: sent });
      expect(events.at(-1)).toMatchObject({
        kind: "stale-nonce",
        nonce: nonce < 0 ? "" : String(nonce),
      });
    },
  );

  it.each([
    [true, undefined, 8],
    [false, { base: 0 }, 0],
  ] as const)(
    "take the ACK of a repair that is a full state (%s) for all of it, whatever was rejected before [S-ACK-8, S-ACK-16]",
    (whole, rejected, accepted) => {
      const { owner, send } = useExchange();
      const [first, repair] = [send(0, 7, { whole }), send(7, 8, { whole })];
      recordAnswer(owner, first, bad, false);
      expect(recordAnswer(owner, repair, undefined, false)).toBe(true);
      expect(owner.exchange.accepted).toBe(accepted);
      if (rejected === undefined)
        expect([owner.exchange.rejected, owner.exchange.lastError]).toEqual([undefined, undefined]);
      else expect(owner.exchange.rejected).toMatchObject(rejected);
    },
  );

  it.each([undefined, bad])(
    "do not count a request as stale that repeats the newest nonce after its answer (%j), as each SotW request that changes names does [C-NONCE-3]",
    (answer) => {
      const { owner: delta, send, kinds } = useExchange();
      const owner: ExchangeOwner = { ...delta, stream: { ...delta.stream, variant: "sotw" } };
      const nonce = send(0, 7);
      recordAnswer(owner, nonce, answer, false);
      expect(recordAnswer(owner, nonce, undefined, false)).toBe(false);
      expect(kinds()).toEqual(["push", answer === undefined ? "ack" : "nack"]);
    },
  );

  it("take a second answer to one nonce as stale", () => {
    const { owner, send, kinds } = useExchange();
    const nonce = send(0, 7);
    recordAnswer(owner, nonce, undefined, false);
    expect(recordAnswer(owner, nonce, bad, false)).toBe(false);
    expect(owner.exchange).toMatchObject({ accepted: 7, nacks: 0 });
    expect(kinds()).toEqual(["push", "ack", "stale-nonce"]);
  });

  it("settle a split response with the answer to its last part", () => {
    const { owner, sendParts } = useExchange();
    const [first = 0, second = 0, third = 0] = sendParts(3, 0, 7);
    expect(recordAnswer(owner, first, undefined, false)).toBe(false);
    expect(recordAnswer(owner, second, undefined, false)).toBe(false);
    expect(owner.exchange.accepted).toBe(0);
    expect(recordAnswer(owner, third, undefined, false)).toBe(true);
    expect(owner.exchange.accepted).toBe(7);
  });

  it("reject a split response as a whole when one part of it was rejected", () => {
    const { owner, sendParts } = useExchange();
    const [first = 0, second = 0] = sendParts(2, 3, 7);
    recordAnswer(owner, first, bad, false);
    expect(recordAnswer(owner, second, undefined, false)).toBe(true);
    expect(owner.exchange).toMatchObject({
      accepted: 0,
      versionAccepted: "",
      nacks: 1,
      rejected: { base: 3 },
    });
  });

  it.each<
    readonly [
      what: string,
      expected: boolean,
      rejects: "first" | "last" | "both",
      again: readonly string[],
    ]
  >([
    ["what was rejected", true, "last", ["a", "b"]],
    [
      "the part of it that was said last, where the rest cannot be said any more",
      true,
      "last",
      ["b"],
    ],
    ["less", false, "last", ["a"]],
    ["more", false, "last", ["a", "b", "c"]],
    [
      "what was rejected at first, of which something newer was accepted since",
      false,
      "first",
      ["a", "b"],
    ],
    [
      "what was rejected last, where what was rejected at first cannot be said any more",
      true,
      "both",
      ["b"],
    ],
    ["what was rejected at first and last", false, "both", ["a", "b"]],
  ])("know a repetition: %s [S-ACK-8, S-ACK-16]", (_, expected, rejects, again) => {
    const { owner, send } = useExchange();
    const [first, newest] = [
      send(0, 1, { entries: [added("a")] }),
      send(0, 2, { entries: [added("b")] }),
    ];
    if (rejects !== "last") recordAnswer(owner, first, bad, false);
    recordAnswer(owner, newest, rejects === "first" ? undefined : bad, false);
    const { rejected } = owner.exchange;
    owner.exchange.rejected = undefined;
    expect(
      isRepetition(
        owner.exchange,
        rejected,
        again.map((name) => added(name)),
        [],
        { said: ({ name }) => Buffer.from(name) },
        false,
      ),
    ).toBe(expected);
    expect(owner.exchange.rejected).toEqual(expected ? { ...rejected, phase: "kept" } : undefined);
  });

  it.each(["before", "after"] as const)(
    "send the rest again of a response that was rejected in part %s it was repaired, whatever becomes of the repair [S-ACK-8, S-ACK-16]",
    (when) => {
      const { owner, send, sendParts } = useExchange();
      const [first = 0, second = 0] = sendParts(2, 3, 7);
      if (when === "before") recordAnswer(owner, first, bad, false);
      const repair = send(7, 8);
      if (when === "after") recordAnswer(owner, first, bad, false);
      recordAnswer(owner, second, undefined, false);
      expect(recordAnswer(owner, repair, undefined, false)).toBe(true);
      expect(owner.exchange.rejected).toMatchObject({ base: 3, phase: "changed" });
    },
  );

  it("settle older responses with the answer to the newest", () => {
    const { owner, send } = useExchange();
    send(2, 5, { entries: [added("a")] });
    const newest = send(5, 9, { entries: [added("b")] });
    expect(owner.exchange.inFlight).toMatchObject({
      base: 2,
      upTo: 9,
      entries: [{ name: "a" }, { name: "b" }],
    });
    expect(recordAnswer(owner, newest, undefined, false)).toBe(true);
    expect(owner.exchange.accepted).toBe(9);
  });

  it("keep each name once of a response and its repairs, however many there are [S-ACK-16]", () => {
    const { owner, send } = useExchange();
    for (let round = 1; round <= 10; round++)
      send(0, round, { entries: [added("a", round), added("b", round)] });
    expect(owner.exchange.inFlight?.entries.map(({ name, revision }) => [name, revision])).toEqual([
      ["a", 10],
      ["b", 10],
    ]);
  });

  it("show a client as stuck that answers nothing while it is repaired again and again [S-ACK-17]", () => {
    const { owner, send, context, clock } = useExchange();
    const { repairMs, stuckMs } = context.limits;
    const progress: TypeProgress = {
      subscriptions: 1,
      wildcard: false,
      answered: true,
      updates: false,
      unsettled: false,
    };
    for (let ms = 0; ms <= stuckMs; ms += repairMs) {
      send(0, ms + 1);
      clock.advance(repairMs);
    }
    expect(statusOf(owner, progress)).toMatchObject({ stuck: true, pendingSince: 0 });
    expect(owner.exchange.inFlight?.repairedAt).toBe(stuckMs);
  });

  it("keep of a rejected response where it began and what it was made of, and the version accepted before", () => {
    const { owner, send, clock, events } = useExchange();
    recordAnswer(owner, send(0, 5), undefined, false);
    clock.advance(100);
    const changed = topic("*");
    const nonce = send(5, 9, { origin: originOf(["a"], changed) });
    recordAnswer(owner, nonce, bad, false);
    expect(owner.exchange).toMatchObject({
      accepted: 5,
      versionAccepted: "v5",
      versionSent: "v9",
      nacks: 1,
    });
    expect(owner.exchange.rejected).toEqual({
      answered: new Set(),
      changed: new Set([changed]),
      named: new Set(["a"]),
      base: 5,
      asked: false,
      entries: [],
      newestEntries: [],
      missed: [],
      phase: "kept",
    });
    expect(owner.exchange.lastError).toEqual({
      code: 3,
      message: "rejected",
      at: 100,
      since: 100,
      version: "v9",
    });
    expect(events.at(-1)).toMatchObject({
      kind: "nack",
      version: "v9",
      accepted: "v5",
      nonce: String(nonce),
      error: { code: 3, message: "rejected" },
    });
  });

  it("send a rejected response again only where the state has changed meanwhile", () => {
    const { owner, send } = useExchange();
    recordAnswer(owner, send(0, 5), bad, true);
    expect(owner.exchange.rejected?.phase).toBe("changed");
  });

  it("send again what was rejected before a repair, and not what was rejected with it", () => {
    const before = useExchange();
    const rejectedFirst = before.send(0, 5);
    const repair = before.send(5, 9);
    recordAnswer(before.owner, rejectedFirst, bad, false);
    recordAnswer(before.owner, repair, undefined, false);
    expect(before.owner.exchange.rejected).toMatchObject({ base: 0, phase: "changed" });

    const after = useExchange();
    after.send(0, 5);
    recordAnswer(after.owner, after.send(5, 9), bad, false);
    expect(after.owner.exchange.rejected).toMatchObject({ base: 0, phase: "kept" });
  });

  it("join what was rejected in several responses, from the earliest base", () => {
    const { owner, send } = useExchange();
    recordAnswer(owner, send(4, 5, { origin: originOf(["a"]) }), bad, false);
    recordAnswer(owner, send(2, 6, { origin: originOf(["b"]) }), bad, false);
    expect(owner.exchange.rejected).toMatchObject({ base: 2, named: new Set(["a", "b"]) });
  });

  it("do not count up to a revision while something before it is rejected", () => {
    const { owner, send } = useExchange();
    recordAnswer(owner, send(0, 5), bad, false);
    recordAnswer(owner, send(5, 9), undefined, false);
    expect(owner.exchange).toMatchObject({
      accepted: 0,
      versionAccepted: "v9",
      lastError: { version: "v5" },
    });
  });

  it("report what was left out of a response", () => {
    const { send, events } = useExchange();
    send(0, 5, {
      frames: {
        list: [createFrame([])],
        version: "v5",
        resources: 0,
        removed: 0,
        notSent: [{ name: "huge", reason: "too-large", bytes: 9, limit: "responseBytes" }],
        batch: undefined,
      },
    });
    expect(events).toMatchObject([
      { kind: "not-sent", resources: [{ name: "huge", reason: "too-large" }] },
      { kind: "push" },
    ]);
  });
});

describe("statusOf()", () => {
  const rest: TypeProgress = {
    subscriptions: 3,
    wildcard: false,
    answered: true,
    updates: false,
    unsettled: false,
  };
  const stateOf = ({ owner }: Subject, progress: Partial<TypeProgress> = {}): string =>
    statusOf(owner, { ...rest, ...progress }).state;

  it("is NOT_SENT before the first response, REQUESTED while names are unknown, SYNCED at rest", () => {
    const subject = useExchange();
    expect(stateOf(subject, { answered: false })).toBe("NOT_SENT");
    expect(stateOf(subject, { answered: false, unsettled: true })).toBe("REQUESTED");
    expect(stateOf(subject)).toBe("SYNCED");
  });

  it("is STALE while a response is unanswered or something was not sent", () => {
    const subject = useExchange();
    expect(stateOf(subject, { updates: true })).toBe("STALE");
    const nonce = subject.send(0, 5);
    expect(stateOf(subject)).toBe("STALE");
    recordAnswer(subject.owner, nonce, undefined, false);
    expect(stateOf(subject)).toBe("SYNCED");
  });

  it("is NACKED after a rejection, until all of it is accepted", () => {
    const subject = useExchange();
    recordAnswer(subject.owner, subject.send(0, 5), bad, false);
    expect(stateOf(subject)).toBe("NACKED");
    expect(stateOf(subject, { updates: true })).toBe("NACKED");
    subject.owner.exchange.rejected = undefined;
    recordAnswer(subject.owner, subject.send(0, 6), undefined, false);
    expect(stateOf(subject)).toBe("SYNCED");
  });

  it("shows versions and nonces, sent and accepted, and since when an answer is awaited", () => {
    const subject = useExchange();
    expect(statusOf(subject.owner, rest)).toMatchObject({
      versionSent: "",
      nonceSent: "",
      versionAccepted: "",
      nonceAccepted: "",
    });
    expect(statusOf(subject.owner, rest)).not.toHaveProperty("pendingSince");
    const accepted = subject.send(0, 5);
    recordAnswer(subject.owner, accepted, undefined, false);
    subject.clock.advance(250);
    const sent = subject.send(5, 6);
    expect(statusOf(subject.owner, rest)).toMatchObject({
      typeUrl: "t",
      subscriptions: 3,
      wildcard: false,
      nacks: 0,
      pendingSince: 250,
      versionSent: "v6",
      nonceSent: String(sent),
      versionAccepted: "v5",
      nonceAccepted: String(accepted),
    });
  });

  it("is stuck after the limit without an answer", () => {
    const subject = useExchange();
    const nonce = subject.send(0, 5);
    subject.clock.advance(30_000);
    expect(statusOf(subject.owner, rest).stuck).toBe(false);
    subject.clock.advance(1);
    expect(statusOf(subject.owner, rest).stuck).toBe(true);
    recordAnswer(subject.owner, nonce, undefined, false);
    expect(statusOf(subject.owner, rest).stuck).toBe(false);
  });
});

describe("longAccepted()", () => {
  const warming = { typeUrl: "t", warms: [{ typeUrl: "child", names: () => [] }] };

  it("is the revision that the client had accepted 15 s ago [S-ORD-2]", () => {
    const { owner: plain, send, clock } = useExchange();
    const owner = { ...plain, type: warming };
    const accept = (revision: number): void => {
      recordAnswer(owner, send(0, revision), undefined, false);
    };
    accept(4);
    expect(longAccepted(owner)).toBe(0);
    clock.advance(14_999);
    accept(7);
    expect(longAccepted(owner)).toBe(0);
    clock.advance(1);
    expect(longAccepted(owner)).toBe(4);
    clock.advance(14_999);
    expect(longAccepted(owner)).toBe(7);
  });

  it("keeps no more than nine moments, however often the client accepts", () => {
    const { owner: plain, send, clock } = useExchange();
    const owner = { ...plain, type: warming };
    for (let n = 1; n <= 1_000; n++) {
      clock.advance(100);
      recordAnswer(owner, send(0, n), undefined, false);
      expect(longAccepted(owner)).toBeLessThanOrEqual(n - Math.min(n, 130));
    }
    expect(owner.exchange.acceptedBefore.length).toBeLessThanOrEqual(9);
    expect(longAccepted(owner)).toBeGreaterThan(800);
  });

  it("is what was accepted last where nothing waits for another type: no moment is kept", () => {
    const { owner, send } = useExchange();
    recordAnswer(owner, send(0, 4), undefined, false);
    expect([longAccepted(owner), owner.exchange.acceptedBefore]).toEqual([4, []]);
  });
});
