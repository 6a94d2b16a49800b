import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import {
  readyCache,
  serve,
  types,
  variants,
  type Harness,
  type OpenCall,
} from "../test/harness.ts";
import { createAdmission, type Newcomer } from "./admission.ts";

const limits = { firstSyncs: 2, firstSyncMs: 1000, waitingSyncs: 2, admissionMs: 10_000 };

function newcomer(log: string[], name: string): Newcomer {
  return {
    admit() {
      log.push(`${name} in`);
    },
    reject() {
      log.push(`${name} out`);
    },
  };
}

describe("createAdmission()", () => {
  it("lets some begin at once, others in their order as these leave, and no more than may wait [S-RECON-9]", () => {
    const clock = createFakeClock();
    const log: string[] = [];
    const admission = createAdmission(clock, limits);
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((name) => newcomer(log, name)) as [
      Newcomer,
      Newcomer,
      Newcomer,
      Newcomer,
      Newcomer,
    ];
    expect([a, b, c, d, e].map((one) => admission.enter(one))).toEqual([
      "now",
      "now",
      "later",
      "later",
      "never",
    ]);
    admission.leave(b);
    admission.leave(b);
    expect(log).toEqual(["c in"]);
    clock.advance(1000);
    expect(log).toEqual(["c in", "d in"]);
    expect(admission.stats()).toEqual({ syncing: 1, waiting: 0, waited: 3, rejected: 1 });
    clock.advance(1000);
    expect([clock.pending, admission.stats().syncing]).toEqual([0, 0]);
  });

  it("turns away who has waited too long, and forgets who has gone [S-RECON-9]", () => {
    const clock = createFakeClock();
    const log: string[] = [];
    const admission = createAdmission(clock, { ...limits, firstSyncMs: 60_000 });
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => newcomer(log, name)) as [
      Newcomer,
      Newcomer,
      Newcomer,
      Newcomer,
    ];
    for (const one of [a, b, c, d]) admission.enter(one);
    admission.leave(c);
    clock.advance(9_999);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(log).toEqual(["d out"]);
    expect(admission.stats()).toEqual({ syncing: 2, waiting: 0, waited: 2, rejected: 1 });
  });
});

/** Opens streams that subscribe to `a` at once. */
function crowd(
  harness: Harness,
  variant: (typeof variants)[number],
  count: number,
): readonly OpenCall[] {
  return Array.from({ length: count }, () => {
    const call = harness.open(variant);
    call.ask(types.cluster, ["a"]);
    return call;
  });
}

function harnessWith(more: Parameters<typeof serve>[1]): Harness {
  const cache = readyCache();
  cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
  return serve(cache, more);
}

describe.each(variants)("createServer() with many clients at once (%s)", (variant) => {
  it(`answers 5,000 that reconnect within the time a round trip takes, none later than 10 s (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({});
    const calls = crowd(harness, variant, 5_000);
    let rounds = 0;
    for (let answered = 0; answered < calls.length && rounds < 100; rounds++) {
      harness.turn();
      const due = calls.filter(({ unread }) => unread > 0);
      expect(due.length).toBeLessThanOrEqual(1_000);
      for (const call of due) call.ack(call.next());
      answered += due.length;
    }
    expect(rounds).toBe(5);
    expect(harness.server.stats().admission).toEqual({
      syncing: 0,
      waiting: 0,
      waited: 4_000,
      rejected: 0,
    });
    expect(harness.server.status().every(({ types: [type] }) => type?.state === "SYNCED")).toBe(
      true,
    );
  });

  it(`answers 5,000 that never ACK, none later than 10 s (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({});
    const calls = crowd(harness, variant, 5_000);
    for (let second = 0; second < 5; second++) {
      harness.turn();
      harness.clock.advance(1000);
    }
    harness.turn();
    expect(calls.every(({ unread }) => unread > 0)).toBe(true);
    expect(harness.clock.now()).toBeLessThanOrEqual(10_000);
  });

  it(`turns away what cannot begin within 10 s, and what cannot even wait (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({
      limits: { admission: { firstSyncs: 1, waitingSyncs: 1, firstSyncMs: 20_000 } },
    });
    const [first, second, third] = crowd(harness, variant, 3);
    harness.turn();
    const status = { code: 8, message: "too many clients are beginning at once; try again later" };
    expect([first?.unread, second?.closed, third?.closed]).toEqual([1, undefined, status]);
    harness.clock.advance(10_000);
    expect(second?.closed).toEqual(status);
    expect(harness.server.stats().admission).toEqual({
      syncing: 1,
      waiting: 0,
      waited: 2,
      rejected: 2,
    });
  });

  it(`counts only streams that have asked: one that is merely open takes no place (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({ limits: { admission: { firstSyncs: 1 } } });
    for (let i = 0; i < 10; i++) harness.open(variant);
    const [call] = crowd(harness, variant, 1);
    harness.turn();
    expect(call?.unread).toBe(1);
  });

  it(`gives the place of a stream that goes to the next, also of one that waits (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({ limits: { admission: { firstSyncs: 1 } } });
    const [first, second, third] = crowd(harness, variant, 3);
    second?.cancel();
    first?.cancel();
    harness.turn();
    expect(third?.unread).toBe(1);
  });

  it(`answers all that a stream said while it waited, and its end (${variant}) [S-RECON-9]`, () => {
    const harness = harnessWith({ limits: { admission: { firstSyncs: 1 } } });
    const [first, second] = crowd(harness, variant, 2);
    second?.end();
    harness.turn();
    expect([second?.unread, second?.closed]).toEqual([0, undefined]);
    first?.cancel();
    harness.turn();
    expect([second?.unread, second?.closed?.code]).toEqual([1, 0]);
  });
});
