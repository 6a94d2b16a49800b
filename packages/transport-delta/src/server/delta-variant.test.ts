import type { Interest } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { useMachine, type UsedMachine } from "../../test/machine.ts";
import { TYPE } from "../../../cache/test/kept-entries.ts";

/** Returns what the order of sending reads of a type. */
function said({ machine }: UsedMachine): object {
  const {
    pending,
    inFlight,
    taken,
    overdue,
    unsentFrom,
    answeredUpTo,
    rejectedFrom,
    heldFrom,
    heldBase,
  } = machine;
  const { accepted } = machine.view().exchange;
  return {
    pending,
    inFlight,
    taken,
    overdue,
    unsentFrom,
    answeredUpTo,
    rejectedFrom,
    heldFrom,
    heldBase,
    accepted,
  };
}
/** Those values when everything is accepted up to a revision. */
const idle = {
  pending: false,
  inFlight: false,
  taken: false,
  overdue: false,
  unsentFrom: Infinity,
  answeredUpTo: Infinity,
  rejectedFrom: Infinity,
  heldFrom: Infinity,
  heldBase: Infinity,
};

/** A type with these names, accepted at this revision of the cache. */
function accepted(...names: readonly string[]): UsedMachine & { readonly at: number } {
  const used = useMachine();
  for (const name of names) used.put(name);
  used.request({ subscribe: names });
  used.settle();
  return { ...used, at: used.cache.revision };
}

describe("createDeltaVariant()", () => {
  it("says of the course of a response what the order of sending goes by [S-ORD-2] [S-ORD-4]", () => {
    const used = useMachine();
    used.put("a");
    const at = used.cache.revision;
    expect(said(used)).toEqual({ ...idle, accepted: 0, pending: true, unsentFrom: 0 }); // the first response is still to be sent
    used.request({ subscribe: ["a"] });
    expect(said(used)).toEqual({ ...idle, accepted: 0, pending: true, unsentFrom: -1 });
    used.drain();
    expect(said(used)).toEqual({ ...idle, accepted: 0, inFlight: true, answeredUpTo: -1 });
    used.ack();
    expect(said(used)).toEqual({ ...idle, accepted: at });
    used.put("a", { text: "2" });
    expect(said(used)).toEqual({ ...idle, accepted: at, pending: true, unsentFrom: at });
    used.drain();
    expect(said(used)).toEqual({ ...idle, accepted: at, inFlight: true, answeredUpTo: at });
    used.nack();
    expect(said(used)).toEqual({ ...idle, accepted: at, rejectedFrom: at });
    expect(used.machine.rejecting).toBe(true);
    used.put("a", { text: "3" });
    expect(said(used)).toEqual({
      ...idle,
      accepted: at,
      pending: true,
      unsentFrom: at,
      rejectedFrom: at,
    });
  });

  it("counts a name to be warmed as asked for, and repairs what is unanswered [S-WARM-1] [S-ACK-16]", () => {
    const used = accepted("a");
    used.machine.warm("other");
    expect(used.machine.pending).toBe(false);
    used.machine.warm("a");
    expect(said(used)).toEqual({ ...idle, accepted: used.at, pending: true, unsentFrom: -1 });
    expect(used.drain()).toMatchObject([{ resources: [{ name: "a" }] }]);
    used.clock.advance(6_000);
    expect(used.machine.overdue).toBe(false); // there is nothing to repair it with
    used.machine.warm("a");
    used.clock.advance(6_000);
    expect(said(used)).toMatchObject({ overdue: true, inFlight: false, pending: true });
    expect(used.drain()).toMatchObject([{ resources: [{ name: "a" }] }]);
    expect(said(used)).toMatchObject({ overdue: false, inFlight: true, pending: false });
  });

  it("repairs when something changes while an answer is missing, asked for again or not [S-ACK-16]", () => {
    for (const change of [
      (used: UsedMachine): void => {
        used.put("a", { text: "2" });
      },
      (used: UsedMachine): void => {
        used.request({ subscribe: ["a"] });
      },
    ]) {
      const used = useMachine();
      used.put("a");
      used.request({ subscribe: ["a"] });
      used.drain();
      change(used);
      used.asked.length = 0;
      used.clock.advance(5_000);
      expect(used.machine.overdue).toBe(true);
      expect(used.asked).toEqual(["schedule"]);
    }
  });

  it("keeps what was taken as it was, and puts it back whole [S-ORD-4]", () => {
    const used = accepted("a", "b");
    const { machine, at } = used;
    used.put("a", { text: "2" });
    used.request({ subscribe: ["b"] });
    machine.take(Infinity);
    expect(said(used)).toMatchObject({ taken: true, pending: false, answeredUpTo: -1 });
    machine.putBack();
    expect(said(used)).toEqual({ ...idle, accepted: at, pending: true, unsentFrom: -1 });
    machine.putBack();
    machine.take(Infinity);
    used.put("a", { text: "3" });
    expect(
      used
        .drain()
        .flatMap(({ resources }) =>
          resources.map(
            ({ name, resource }) => `${name} ${Buffer.from(resource?.value ?? []).toString()}`,
          ),
        )
        .sort(),
    ).toEqual(["a 2", "b "]);
    expect(said(used)).toMatchObject({ taken: false, pending: true });
    used.ack();
    expect(used.drain()).toMatchObject([{ resources: [{ name: "a" }] }]);
  });

  it("does not warm what waits to be sent anyway [S-WARM-1]", () => {
    const used = accepted("a", "b");
    used.put("a", { text: "2" });
    used.machine.take(Infinity);
    used.machine.warm("a");
    expect(used.machine.pending).toBe(false);
    used.machine.warm("b");
    expect(used.machine.pending).toBe(true);
  });

  it("holds removals back up to a revision, and says since when [S-ORD-3]", () => {
    const used = accepted("a", "b");
    used.remove("a");
    const first = used.cache.revision;
    used.remove("b");
    expect(used.drain(used.at)).toEqual([]);
    expect(said(used)).toEqual({
      ...idle,
      accepted: used.cache.revision,
      heldFrom: first,
      heldBase: used.at,
    });
    used.machine.release(used.at);
    expect(used.sent()).toEqual([]);
    used.machine.release(first);
    expect(used.sent()).toMatchObject([{ removedResources: ["a"] }]);
    expect(said(used)).toMatchObject({ heldFrom: used.cache.revision, inFlight: true });
    used.ack();
    used.machine.release(Infinity);
    expect(used.sent()).toMatchObject([{ removedResources: ["b"] }]);
  });

  it("sends what was rejected again without what has gone meanwhile, although that waits to be removed [S-ACK-8] [S-ORD-3]", () => {
    const used = useMachine();
    used.put("a");
    used.put("bad");
    used.request({ subscribe: ["a", "bad"] });
    used.drain();
    const at = used.cache.revision;
    used.remove("bad");
    used.pass(5_000);
    expect(used.drain(at)).toEqual([]); // there is nothing to repair it with
    used.nack();
    expect(used.machine.pending).toBe(true);
    expect(used.drain(at)).toMatchObject([{ resources: [{ name: "a" }], removedResources: [] }]);
    used.ack();
    expect(used.machine.rejecting).toBe(false);
    used.machine.release(Infinity);
    expect(used.sent()).toMatchObject([{ removedResources: ["bad"] }]);
  });

  it("does not forget what has changed since a cut was taken that would only repeat what was rejected [S-ACK-8] [S-ORD-2]", () => {
    const used = accepted("a", "b");
    used.put("a", { text: "bad" });
    used.drain();
    used.nack();
    used.put("b", { text: "2" });
    used.request({ unsubscribe: ["b"] });
    used.machine.take(Infinity);
    used.put("a", { text: "good" });
    expect(used.drain()).toEqual([]);
    expect(used.drain()).toMatchObject([{ resources: [{ name: "a" }] }]);
    used.ack();
    expect(said(used)).toEqual({ ...idle, accepted: used.cache.revision });
    expect(used.machine.rejecting).toBe(false);
  });

  it("waits with what a client need not have listed as with removals [S-RECON-4] [S-ORD-3]", () => {
    const used = useMachine();
    used.put("a", { version: "v1" });
    used.request({
      subscribe: ["a"],
      initialVersions: new Map([
        ["a", "v1"],
        ["gone", "v1"],
      ]),
    });
    expect(used.machine.heldFrom).toBe(Infinity);
    used.drain(-1);
    expect(used.machine.heldFrom).toBe(used.cache.revision);
    used.ack();
    used.machine.release(Infinity);
    expect(used.sent()).toMatchObject([{ removedResources: ["gone"] }]);
    expect(used.machine.heldFrom).toBe(Infinity);
  });

  it("tells who follows it of a name that was rejected before the client ever had it [S-ORD-4]", () => {
    const used = accepted("a");
    used.put("a", { text: "2" });
    used.request({ subscribe: ["b"] });
    used.put("b");
    used.drain();
    expect(["a", "b", "c"].map((name) => used.machine.lacks(name))).toEqual([false, false, false]);
    used.nack();
    expect(["a", "b", "c"].map((name) => used.machine.lacks(name))).toEqual([false, true, false]);
  });

  it("says what is asked for and missing [S-ORD-2]", () => {
    const used = accepted("a");
    used.put("elsewhere");
    used.request({ subscribe: ["missing"] });
    expect(["a", "missing"].map((name) => used.machine.misses(name))).toEqual([false, true]);
  });

  it("takes a plain ACK for one only after the first request, and with a nonce", () => {
    const used = useMachine();
    const scan = (nonce: number): never => ({ plain: true, nonce }) as never;
    expect(used.machine.plainAck(scan(1), new Uint8Array())).toBe(false);
    used.put("a");
    used.request({ subscribe: ["a"] });
    const [answer] = used.drain();
    expect(used.machine.plainAck(scan(-1), new Uint8Array())).toBe(false);
    expect(used.machine.inFlight).toBe(true);
    expect(used.machine.plainAck(scan(Number(answer?.nonce)), new Uint8Array())).toBe(true);
    expect(said(used)).toEqual({ ...idle, accepted: used.cache.revision });
  });

  it("has what was taken for a cut taken anew by a rejection or another subscription, not by an ACK [S-ORD-4]", () => {
    const used = accepted("a");
    const thaws = (step: () => void): boolean => {
      used.asked.length = 0;
      step();
      return used.asked.includes("thaw");
    };
    used.put("a", { text: "2" });
    used.drain();
    expect(
      thaws(() => {
        used.ack();
      }),
    ).toBe(false);
    used.put("a", { text: "3" });
    used.drain();
    expect(
      thaws(() => {
        used.nack();
      }),
    ).toBe(true);
    expect(
      thaws(() => {
        used.request({ subscribe: ["b"] });
      }),
    ).toBe(true);
    expect(
      thaws(() => {
        used.request({ unsubscribe: ["b"] });
      }),
    ).toBe(true);
  });

  it.each([
    ["subscriptions", { subscribe: ["a", "b", "c"] }, "more than 2 subscriptions of one type"],
    [
      "subscriptions",
      { unsubscribe: ["a", "b", "c"] },
      "more than 2 names to unsubscribe in one request",
    ],
    [
      "heldVersions",
      {
        subscribe: ["a"],
        initialVersions: new Map([
          ["a", ""],
          ["b", ""],
          ["c", ""],
        ]),
      },
      "more than 2 initial_resource_versions",
    ],
    [
      "nameLength",
      {
        subscribe: ["a"],
        initialVersions: new Map([
          ["a", ""],
          ["abcde", ""],
        ]),
      },
      "a name in initial_resource_versions is longer than 4 bytes",
    ],
    [
      "nameLength",
      {
        subscribe: ["a"],
        initialVersions: new Map([
          ["a", ""],
          ["€€", ""],
        ]),
      },
      "a name in initial_resource_versions is longer than 4 bytes",
    ],
  ] as const)("ends a stream that exceeds %s [S-LIM-4]", (limit, request, message) => {
    const used = useMachine({ limits: { subscriptions: 2, heldVersions: 2, nameLength: 4 } });
    used.request(request);
    expect(used.asked).toEqual([`end 8 ${message} ${limit}`]);
    const within = useMachine({ limits: { subscriptions: 2, heldVersions: 2, nameLength: 4 } });
    within.request({
      subscribe: ["a", "b"],
      unsubscribe: ["a", "b"],
      initialVersions: new Map([
        ["a€", ""],
        ["abcd", ""],
      ]),
    });
    expect(within.asked.filter((call) => call.startsWith("end"))).toEqual([]);
  });

  it("ends a stream whose subscriptions become too many one by one [S-LIM-4]", () => {
    const used = useMachine({ limits: { subscriptions: 2 } });
    for (const name of ["a", "b", "b"]) used.request({ subscribe: [name] });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([]);
    used.request({ subscribe: ["c"] });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([
      "end 8 more than 2 subscriptions of one type subscriptions",
    ]);
  });

  it("counts what a request leaves behind: who is at the limit may swap names in one request [S-LIM-4, S-DSUB-1]", () => {
    const ends = (
      ...requests: readonly Parameters<ReturnType<typeof useMachine>["request"]>[0][]
    ): readonly string[] => {
      const used = useMachine({ limits: { subscriptions: 2, globs: 1 } });
      for (const request of requests) used.request(request);
      return used.asked.filter((call) => call.startsWith("end"));
    };
    expect(
      ends(
        { subscribe: ["a", "b"] },
        { subscribe: ["c", "d"], unsubscribe: ["a", "b"] },
        { subscribe: ["e"], unsubscribe: ["d"] },
      ),
    ).toEqual([]);
    expect(
      ends(
        { subscribe: ["xdstp://acme/t/a/*"] },
        { subscribe: ["xdstp://acme/t/b/*"], unsubscribe: ["xdstp://acme/t/a/*"] },
      ),
    ).toEqual([]);
    const located = (value: string): Interest => ({
      name: "a",
      parameters: new Map([["key", value]]),
    });
    expect(
      ends(
        { subscribe: ["a"], locate: [located("1")] },
        { locate: [located("2")], unlocate: [located("1")] },
      ),
    ).toEqual([]);
    expect(
      ends({ subscribe: ["a", "b"] }, { subscribe: ["c", "d"], unsubscribe: ["a", "a"] }),
    ).toEqual(["end 8 more than 2 subscriptions of one type subscriptions"]);
    expect(
      ends(
        { subscribe: ["a", "b"] },
        { subscribe: ["a", "c"], unsubscribe: ["a"] },
        { subscribe: ["d"] },
      ),
    ).toEqual(["end 8 more than 2 subscriptions of one type subscriptions"]);
  });

  it("says what cannot be sent, and sends an empty response instead only where one is due [S-SIZE-4]", () => {
    const used = useMachine({ limits: { responseBytes: 2_000 } });
    used.put("giant", { text: "x".repeat(3_000) });
    used.request({ subscribe: ["giant"] });
    expect(used.drain()).toMatchObject([{ resources: [], removedResources: [] }]);
    used.ack();
    used.put("giant", { text: "y".repeat(3_000) });
    expect(used.drain()).toEqual([]);
    expect(used.machine.view().exchange.accepted).toBe(used.cache.revision);
    expect(used.events.filter(({ kind }) => kind === "not-sent")).toMatchObject([
      { typeUrl: TYPE, resources: [{ name: "giant" }] },
      { typeUrl: TYPE, resources: [{ name: "giant" }] },
    ]);
  });

  it("reports changes of subscription, and nothing else, as such", () => {
    const used = accepted("a");
    used.request({ subscribe: ["b"] });
    used.request({ unsubscribe: ["a"] });
    used.request({});
    expect(used.events.filter(({ kind }) => kind === "subscribe")).toMatchObject([
      { typeUrl: TYPE, added: ["a"], dropped: [] },
      { added: ["b"], dropped: [] },
      { added: [], dropped: ["a"] },
    ]);
  });

  it("leaves nothing behind when the stream is over", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900 });
    used.request({ subscribe: ["a"] });
    used.settle();
    expect(used.clock.pending).toBe(1);
    used.machine.close();
    used.asked.length = 0;
    used.put("a", { text: "2" });
    expect(used.asked).toEqual([]);
    used.clock.advance(900);
    expect(used.clock.pending).toBe(0);
  });
});
