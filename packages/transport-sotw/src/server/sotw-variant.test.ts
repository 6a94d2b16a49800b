import { hashBytes } from "@xdstp/protocol/server";
import { describe, expect, it } from "vitest";
import { TYPE } from "../../../cache/test/kept-entries.ts";
import { useMachine, type UsedMachine, type UseMachine } from "../../test/machine.ts";
import { hashList } from "./hash-list.ts";

const FULL = { type: { fullStateInSotw: true } } as const;

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
function accepted(
  names: readonly string[],
  options?: UseMachine,
): UsedMachine & { readonly at: number } {
  const used = useMachine(options);
  for (const name of names) used.put(name);
  used.request({ names });
  used.settle();
  return { ...used, at: used.cache.revision };
}

describe("createSotwVariant()", () => {
  it("does not forget what has changed since a cut was taken that would only repeat what was rejected [S-ACK-8] [S-ORD-2]", () => {
    const used = accepted(["a", "b"]);
    used.put("a", { text: "bad" });
    used.drain();
    used.nack({ names: ["a", "b"] });
    used.put("b", { text: "2" });
    used.ack({ names: ["a"] });
    used.machine.take(Infinity);
    used.put("a", { text: "good" });
    expect(used.drain()).toEqual([]);
    expect(used.drain()).toMatchObject([{ names: ["a"] }]);
    used.ack({ names: ["a"] });
    expect(used.machine.rejecting).toBe(false);
  });

  it("does not say again what was rejected, has gone, of which nothing could be said, and comes back as it was, unless it is asked for anew [S-ACK-8] [C-FULL-4]", () => {
    const used = useMachine();
    used.put("a", { text: "bad", version: "1" });
    used.request({ names: ["a"] });
    used.drain();
    used.nack({ names: ["a"] });
    used.remove("a");
    expect(used.drain()).toEqual([]);
    expect(used.machine.rejecting).toBe(false);
    used.put("a", { text: "bad", version: "1" });
    expect(used.drain()).toEqual([]);
    expect(used.machine.rejecting).toBe(true);
    used.put("a", { text: "good", version: "2" });
    expect(used.drain()).toMatchObject([{ names: ["a"] }]);
    used.nack({ names: ["a"] });
    used.remove("a");
    expect(used.drain()).toEqual([]);
    used.ack({ names: [] });
    used.put("a", { text: "good", version: "2" });
    used.ack({ names: ["a"] });
    expect(used.drain()).toMatchObject([{ names: ["a"] }]);
  });

  it.each([
    ["partial", {}],
    ["full", FULL],
  ] as const)(
    "says of the course of a %s response what the order of sending goes by [S-ORD-2] [S-ORD-4]",
    (_, options) => {
      const used = useMachine(options);
      used.put("a");
      const at = used.cache.revision;
      expect(said(used)).toEqual({ ...idle, accepted: 0 });
      used.request({ names: ["a"] });
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
    },
  );

  it("counts a name to be warmed as asked for, and repairs what is unanswered [S-WARM-1] [S-ACK-16]", () => {
    const used = accepted(["a"]);
    used.machine.warm("other");
    expect(used.machine.pending).toBe(false);
    used.machine.warm("a");
    expect(said(used)).toEqual({ ...idle, accepted: used.at, pending: true, unsentFrom: -1 });
    expect(used.drain()).toMatchObject([{ names: ["a"] }]);
    used.clock.advance(6_000);
    expect(used.machine.overdue).toBe(false); // there is nothing to repair it with
    used.machine.warm("a");
    used.clock.advance(6_000);
    expect(said(used)).toMatchObject({ overdue: true, inFlight: false, pending: true });
    expect(used.drain()).toMatchObject([{ names: ["a"] }]);
    expect(said(used)).toMatchObject({ overdue: false, inFlight: true, pending: false });
  });

  it("repairs when something changes while an answer is missing [S-ACK-16]", () => {
    const used = useMachine();
    used.put("a");
    used.request({ names: ["a"] });
    used.drain();
    used.put("a", { text: "2" });
    used.asked.length = 0;
    used.clock.advance(5_000);
    expect(used.machine.overdue).toBe(true);
    expect(used.asked).toEqual(["schedule"]);
  });

  it("keeps what was taken as it was, and puts it back whole [S-ORD-4]", () => {
    const used = accepted(["a"]);
    const { machine, at } = used;
    used.put("b");
    used.put("a", { text: "2" });
    used.ack({ names: ["a", "b"] });
    machine.take(Infinity);
    expect(said(used)).toMatchObject({ taken: true, pending: false, answeredUpTo: -1 });
    machine.putBack();
    expect(said(used)).toEqual({ ...idle, accepted: at, pending: true, unsentFrom: -1 });
    machine.putBack();
    machine.take(Infinity);
    used.put("a", { text: "3" });
    const [sent] = used.drain();
    expect(sent?.names.map((name, index) => [name, sent.texts[index]]).sort()).toEqual([
      ["a", "2"],
      ["b", ""],
    ]);
    expect(said(used)).toMatchObject({ taken: false, pending: true });
    used.ack();
    expect(used.drain()).toMatchObject([{ names: ["a"], texts: ["3"] }]);
  });

  it("does not warm what waits to be sent anyway [S-WARM-1]", () => {
    const used = accepted(["a", "b"]);
    used.put("a", { text: "2" });
    used.machine.take(Infinity);
    used.machine.warm("a");
    expect(used.machine.pending).toBe(false);
    used.machine.warm("b");
    expect(used.machine.pending).toBe(true);
  });

  it.each([
    ["nothing else has changed", false],
    ["something else has changed", true],
  ])(
    "sends what is left of a rejected response when some of it has gone while the answer was overdue, and %s [S-ACK-8] [S-ACK-16]",
    (_, changes) => {
      const used = useMachine();
      used.put("a");
      used.put("b", { text: "bad" });
      used.request({ names: ["a", "b", "c"] });
      used.drain();
      used.remove("b");
      if (changes) used.put("c");
      used.pass(5_000);
      expect(used.drain().map(({ names }) => names)).toEqual(changes ? [["c"]] : []);
      used.nack();
      expect(used.drain().map(({ names }) => [...names].sort())).toEqual([
        changes ? ["a", "c"] : ["a"],
      ]);
    },
  );

  it("lets what is gone stay in a full state up to a revision, and says since when [S-ORD-3]", () => {
    const used = useMachine(FULL);
    for (const name of ["a", "b"]) used.put(name);
    used.request({ names: ["*"] });
    used.settle();
    used.remove("a");
    const first = used.cache.revision;
    expect(used.drain(first - 1)).toEqual([]);
    expect(said(used)).toEqual({ ...idle, accepted: first, heldFrom: first, heldBase: first - 1 });
    used.remove("b");
    used.drain(first - 1);
    expect(said(used)).toMatchObject({ accepted: first + 1, heldFrom: first, heldBase: first - 1 });
    used.machine.release(first);
    expect(used.sent()).toMatchObject([{ names: ["b"] }]);
    expect(said(used)).toMatchObject({ heldFrom: first + 1, heldBase: first, inFlight: true });
    used.ack();
    used.machine.release(Infinity);
    expect(used.sent()).toMatchObject([{ names: [] }]);
  });

  it("takes what it held back in again as soon as it may go", () => {
    const used = accepted(["a"]);
    expect([...used.machine.heldBack]).toEqual([]);
    used.machine.releaseHolds();
    expect(used.machine.pending).toBe(false);
  });

  it("tells who follows it of a name that was rejected before the client ever had it [S-ORD-4]", () => {
    const used = accepted(["a"]);
    used.put("a", { text: "2" });
    used.ack({ names: ["a", "b"] });
    used.put("b");
    used.drain();
    expect(["a", "b", "c"].map((name) => used.machine.lacks(name))).toEqual([false, false, false]);
    used.nack();
    expect(["a", "b", "c"].map((name) => used.machine.lacks(name))).toEqual([false, true, false]);
  });

  it("says what is asked for and missing [S-ORD-2]", () => {
    const used = accepted(["a"]);
    used.ack({ names: ["a", "missing"] });
    expect(["a", "missing"].map((name) => used.machine.misses(name))).toEqual([false, true]);
  });

  it("takes a plain ACK for one only with the list and the nonce of the newest", () => {
    const used = useMachine();
    const [list, other] = [["a"], ["b"]].map((names) =>
      Buffer.concat([Buffer.of(26, 1), Buffer.from(names.join(""))]),
    );
    const plain = (nonce: number, message = Buffer.alloc(0)): boolean =>
      used.machine.plainAck(
        { plain: true, nonce, namesStart: 0, namesEnd: message.length } as never,
        message,
      );
    expect(plain(0)).toBe(false);
    used.put("a");
    used.request({ names: ["a"] });
    expect(hashBytes(list ?? Buffer.alloc(0), 0, 3)).toBe(hashList(["a"]));
    expect(plain(0, list)).toBe(false); // nothing was sent yet
    const nonce = Number(used.drain()[0]?.nonce);
    expect([plain(nonce, other), plain(nonce + 1, list), used.machine.inFlight]).toEqual([
      false,
      false,
      true,
    ]);
    expect(plain(nonce, list)).toBe(true);
    expect(said(used)).toEqual({ ...idle, accepted: used.cache.revision });
  });

  it("has what was taken for a cut taken anew by a rejection or another list, not by an ACK [S-ORD-4]", () => {
    const used = accepted(["a"]);
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
        used.ack({ names: ["a", "b"] });
      }),
    ).toBe(true);
  });

  it("tells operators what is new, taken and not known yet [S-ACK-9]", () => {
    const used = accepted(["a"]);
    used.ack({ names: ["*", "a"] });
    used.settle();
    expect(used.machine.status()).toMatchObject({
      state: "SYNCED",
      subscriptions: 2,
      wildcard: true,
    });
    used.put("a", { text: "2" });
    expect(used.machine.status()).toMatchObject({ state: "STALE" });
    used.machine.take(Infinity);
    expect(used.machine.status()).toMatchObject({ state: "STALE" });
    expect(accepted(["a"]).machine.status()).toMatchObject({
      state: "SYNCED",
      subscriptions: 1,
      wildcard: false,
    });
  });

  it("sends whole what rejected heartbeats stand for, if it is still wanted [S-TTL-2]", () => {
    const used = useMachine();
    for (const [name, ttlMs] of [
      ["a", 900],
      ["b", 900],
      ["c", undefined],
    ] as const)
      used.put(name, ttlMs === undefined ? {} : { ttlMs });
    used.request({ names: ["a", "b", "c"] });
    used.settle();
    used.pass(300);
    expect(used.sent()).toMatchObject([{ names: ["a", "b"], bodies: [false, false] }]);
    used.asked.length = 0;
    used.nack({ names: ["b", "c"] });
    expect(used.asked).toContain("schedule");
    expect(used.drain()).toMatchObject([{ names: ["b"], bodies: [true] }]);
  });

  it("takes a full state that changed nothing but a label or a TTL for news, and the same one not [S-TTL-7] [S-VER-2]", () => {
    const used = useMachine(FULL);
    used.put("a", { version: "v1", ttlMs: 900 });
    used.request({ names: ["*"] });
    expect(used.settle()).toHaveLength(1);
    used.put("a", { version: "v1", ttlMs: 1_800 });
    expect(used.settle()).toHaveLength(1);
    used.put("b");
    used.remove("b");
    expect(used.drain()).toEqual([]);
    expect(used.machine.view().exchange.accepted).toBe(used.cache.revision);
  });

  it("counts what needs no response as accepted, unless one is rejected or unanswered [S-ACK-8]", () => {
    const missing = accepted(["a"]);
    missing.remove("a");
    expect(missing.drain()).toEqual([]);
    expect(missing.machine.view().exchange.accepted).toBe(missing.cache.revision);
    const rejected = accepted(["a", "b"]);
    rejected.put("a", { text: "bad" });
    rejected.drain();
    rejected.remove("b");
    expect(rejected.drain()).toEqual([]);
    expect(rejected.machine.view().exchange.accepted).toBe(rejected.at);
    rejected.nack();
    rejected.drain();
    expect(rejected.machine.view().exchange.accepted).toBe(rejected.at);
  });

  it("waits for a full state that is not settled with a timer of its own, and calls it off [S-STREAM-9]", () => {
    const unsettled = { ...FULL, feed: true } as const;
    const used = useMachine(unsettled);
    used.request({ names: ["a"] });
    expect(used.machine.pending).toBe(false);
    expect(used.machine.status()).toMatchObject({ state: "REQUESTED" });
    expect(used.clock.pending).toBe(1);
    used.request({ names: ["a", "b"] });
    expect(used.clock.pending).toBe(1);
    used.machine.close();
    expect(used.clock.pending).toBe(0);
    const returning = useMachine(unsettled);
    returning.request({ names: ["a"], version: "1" });
    expect(returning.clock.pending).toBe(0);
    const settled = useMachine(FULL);
    settled.request({ names: ["a"] });
    expect(settled.clock.pending).toBe(0);
  });

  it("lets what has gone at a revision go with it, not before [S-ORD-3]", () => {
    const used = useMachine(FULL);
    for (const name of ["a", "b"]) used.put(name);
    used.request({ names: ["*"] });
    used.settle();
    used.remove("a");
    const gone = used.cache.revision;
    expect(used.drain(gone - 1)).toEqual([]);
    expect(used.machine.heldFrom).toBe(gone);
    expect(used.drain(gone)).toMatchObject([{ names: ["b"] }]);
    expect(used.machine.heldFrom).toBe(Infinity);
  });

  it("takes a wildcard that comes back with the version of now for one that has everything [S-RECON-7]", () => {
    const first = useMachine(FULL);
    first.put("a", { version: "v1" });
    first.request({ names: ["*"] });
    const [{ version } = { version: "" }] = first.settle();
    for (const [names, given, pending] of [
      [["*"], version, false],
      [["*"], "other", true],
      [["*"], "", true],
      [["a"], version, true],
      [["*", "a"], version, true],
    ] as const) {
      const used = useMachine(FULL);
      used.put("a", { version: "v1" });
      used.request({ names, version: given });
      expect([names, given, used.machine.pending]).toEqual([names, given, pending]);
      if (pending) continue;
      expect(used.machine.status()).toMatchObject({
        state: "SYNCED",
        versionSent: version,
        versionAccepted: version,
      });
      expect(said(used)).toEqual({ ...idle, accepted: used.cache.revision });
      used.put("b");
      expect(used.drain()).toMatchObject([{ names: ["a", "b"] }]);
    }
  });

  it("withholds a full state from who comes back with a name that is gone, and says so [S-ORD-3]", () => {
    const used = useMachine(FULL);
    used.put("a");
    used.request({ names: ["a", "gone"], version: "1" });
    expect(said(used)).toMatchObject({ pending: false, heldFrom: 0 });
    used.machine.release(Infinity);
    expect(used.sent()).toMatchObject([{ names: ["a"] }]);
    expect(said(used)).toMatchObject({ inFlight: true, heldFrom: Infinity });
    const fresh = useMachine(FULL);
    fresh.put("a");
    fresh.request({ names: ["a", "gone"] });
    expect(said(fresh)).toMatchObject({ pending: true, heldFrom: Infinity });
  });

  it.each([
    ["a partial state, of names", {}, ["giant"], []],
    ["a partial state, of the wildcard", {}, ["*"], [[]]],
    ["a full state", FULL, ["*"], []],
  ] as const)(
    "says what of %s cannot be sent, and sends an empty response instead only where it deletes nothing [S-SIZE-3] [S-SIZE-4]",
    (_, options, names, sent) => {
      const used = useMachine({
        ...options,
        limits: { responseBytes: 2_000, fullStateBytes: 2_000 },
      });
      used.put("giant", { text: "x".repeat(3_000) });
      used.request({ names });
      expect(used.drain().map((answer) => answer.names)).toEqual(sent);
      expect(used.events.filter(({ kind }) => kind === "not-sent")).toMatchObject([
        { typeUrl: TYPE, resources: [{ name: "giant" }] },
      ]);
    },
  );

  it("bears the version of what was sent, whatever the order, and an author's label [S-VER-2]", () => {
    const one = useMachine();
    const other = useMachine();
    for (const [used, names] of [
      [one, ["a", "b"]],
      [other, ["b", "a"]],
    ] as const) {
      for (const name of names) used.put(name, { version: name });
      used.request({ names: names.slice(0, 1) });
      used.settle();
      used.ack({ names });
    }
    const [first] = one.settle();
    expect(other.settle()[0]?.version).toBe(first?.version);
    one.put("a", { version: "new" });
    const [second] = one.settle();
    expect(second?.version).not.toBe(first?.version);
    one.put("a", { version: "a" });
    expect(one.settle()[0]?.version).toBe(first?.version);
    one.ack({ names: ["b"] });
    one.put("b", { version: "new" });
    const alone = useMachine();
    alone.put("b", { version: "new" });
    alone.request({ names: ["b"] });
    expect(alone.settle()[0]?.version).toBe(one.settle()[0]?.version);
  });

  it("sends again what was rejected when anything changes, but not what has left the list [S-ACK-8]", () => {
    const used = accepted(["a", "b", "c"]);
    for (const name of ["a", "b"]) used.put(name, { text: "bad" });
    used.drain();
    used.nack();
    expect(used.machine.pending).toBe(false);
    used.put("c", { text: "2" });
    used.ack({ names: ["b", "c"] });
    expect(used.settle().map(({ names }) => [...names].sort())).toEqual([["b", "c"]]);
    expect(used.machine.rejecting).toBe(false);
    expect(said(used)).toMatchObject({ pending: false, accepted: used.cache.revision });
  });

  it("sends names that were owed when they were rejected again, as they are by then [S-ACK-8]", () => {
    const used = accepted(["a"]);
    used.machine.warm("a");
    used.drain();
    used.nack();
    used.put("a", { text: "2" });
    expect(used.settle()).toMatchObject([{ names: ["a"], texts: ["2"] }]);
  });

  it.each([
    ["partial", {}],
    ["full", FULL.type],
  ] as const)(
    "does not say a rejected %s response again because of another version of it, which a client of unwrapped resources is not told [S-ACK-8] [S-WRAP-2]",
    (_, type) => {
      const used = accepted(["a"], { type: { ...type, nameField: 1 } });
      used.put("a", { text: "bad", version: "1" });
      expect(used.drain()).toMatchObject([{ texts: ["bad"] }]);
      used.nack();
      for (const version of ["2", "3"]) {
        used.put("a", { text: "bad", version });
        expect(used.drain()).toEqual([]);
        expect(used.machine).toMatchObject({ pending: false, rejecting: true });
      }
      used.put("a", { text: "good", version: "3" });
      expect(used.settle()).toMatchObject([{ texts: ["good"] }]);
      expect(used.machine.rejecting).toBe(false);
      expect(said(used)).toMatchObject({ accepted: used.cache.revision });
    },
  );

  it.each([
    ["partial", {}],
    ["full", FULL.type],
  ] as const)(
    "says a rejected %s response again in another version where its client is told that [S-ACK-8] [S-WRAP-2]",
    (_, type) => {
      const used = accepted(["a"], { type });
      used.put("a", { text: "bad", version: "1" });
      used.drain();
      used.nack();
      used.put("a", { text: "bad", version: "2" });
      expect(used.drain()).toMatchObject([{ versions: ["2"], texts: ["bad"] }]);
    },
  );

  it("leaves nothing behind when the stream is over", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900 });
    used.request({ names: ["a"] });
    used.settle();
    expect(used.clock.pending).toBe(1);
    used.machine.close();
    expect(used.machine.status()).toMatchObject({ subscriptions: 0 });
    used.asked.length = 0;
    used.put("a", { text: "2" });
    expect(used.asked).toEqual([]);
    used.clock.advance(900);
    expect(used.clock.pending).toBe(0);
  });

  it("ends a stream that asks for too much [S-LIM-4]", () => {
    const used = useMachine({ limits: { subscriptions: 2, globs: 1 }, ...FULL });
    used.request({ names: ["a", "b"] });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([]);
    used.request({ names: ["a", "b", "c"] });
    used.request({
      names: ["x", "y"].map((id) => `xdstp://a/${TYPE.split("/")[1] ?? ""}/${id}/*`),
    });
    expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([
      "end 8 more than 2 subscriptions of one type subscriptions",
      "end 8 more than 1 globs of one type globs",
    ]);
  });
});
