import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import { createTestContext } from "../../test/server-context.ts";
import { siblingWith } from "../../test/sibling-with.ts";
import type { Entry, ResourceType } from "@xdstp/core";
import { createExchange } from "../delivery/exchange.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { holdBack, Holds, type HoldOwner, lackOf, leaveRejected, releasable } from "./holds.ts";
import type { Lack } from "./ordered-type.ts";

const CLUSTER = "cluster";
let reads = 0;
const type: ResourceType = {
  typeUrl: "route",
  follows: [
    { typeUrl: CLUSTER, when: "accepted" },
    { typeUrl: "listener", when: "sent" },
  ],
  references: (payload) => {
    reads++;
    return new TextDecoder()
      .decode(payload)
      .split(" ")
      .map((reference) => {
        const [typeUrl = "", name = ""] = reference.split("/");
        return { typeUrl, name };
      });
  },
};
const route = (name: string, revision: number, ...references: readonly string[]): Entry => ({
  ...added(name, revision),
  resource: storedResource(name, new TextEncoder().encode(references.join(" "))),
});

/** Routes of a client that has accepted revision 5; `lacks` says what it lacks of the clusters. */
function useRoutes(lacks: Record<string, Lack | "cold">, of: ResourceType = type) {
  const test = createTestContext();
  const state = { lacks: { ...lacks }, carried: "", scheduled: 0, since: 0 };
  const sibling = siblingWith({
    accepted: 9,
    isBehind: true,
    lacks: (name) => {
      const lack = state.lacks[name];
      return lack === "cold" ? undefined : lack;
    },
    isCold: (name, since) => state.lacks[name] === "cold" && since < 9,
    carries: (name) => name === state.carried,
    existsSince: () => state.since,
  });
  const siblings: Record<string, ReturnType<TypeHost["sibling"]>> = {
    [CLUSTER]: sibling,
    listener: siblingWith({ isBehind: true, lacks: () => "unaccepted" }),
  };
  const owner: HoldOwner = {
    context: test.context,
    stream: { id: 1, variant: "delta", peer: "p", node: undefined },
    typeUrl: "route",
    type: of,
    exchange: { ...createExchange(), accepted: 5 },
    host: {
      sibling: (typeUrl) => siblings[typeUrl],
      schedule: () => {
        state.scheduled++;
      },
    },
    holds: undefined,
  };
  const accept = (name: string, revision: number): void => {
    state.lacks = Object.fromEntries(
      Object.entries(state.lacks).filter(([other]) => other !== name),
    );
    owner.holds?.noteAccepted(CLUSTER, {
      entries: [added(name, revision)],
      base: 5,
      asked: false,
    });
  };
  const waits = (): readonly string[] =>
    (owner.holds?.names() ?? []).map((hold) => `${hold.name} for ${hold.for}: ${hold.why}`);
  return { ...test, owner, state, accept, waits };
}

describe("holdBack()", () => {
  it.each(["rejected", "unaccepted", "cold"] as const)(
    "leaves out what names something that is %s, says for which name, and lets all else go [S-ORD-2] [S-ORD-4]",
    (why) => {
      const { owner, waits, events } = useRoutes({ bad: why });
      const [one, two, gone] = [
        route("one", 6, "cluster/good", "cluster/bad"),
        route("two", 6, "cluster/good"),
        removed("gone", 6),
      ];
      expect(holdBack(owner, [one, two, gone], 5)).toEqual({
        entries: [two, gone],
        held: [one],
        base: 5,
      });
      expect(waits()).toEqual([`one for bad: ${why}`]);
      expect(events).toMatchObject([
        { kind: "held-back", typeUrl: "route", names: [{ name: "one", for: "bad", why }] },
      ]);
      holdBack(owner, [one], 5);
      expect(events).toHaveLength(1);
    },
  );

  it("waits for nothing that does not exist or is not subscribed [S-WARM-2]", () => {
    const { owner } = useRoutes({ nowhere: "absent" });
    const entries = [route("r", 6, "cluster/nowhere")];
    expect(holdBack(owner, entries, 5).entries).toBe(entries);
  });

  it("of the first state of a type leaves out only what names something rejected: it waits as a whole", () => {
    const { owner } = useRoutes({ bad: "rejected", new: "unaccepted", cold: "cold" });
    owner.exchange.accepted = 0;
    const entries = [route("a", 6, "cluster/new"), route("b", 6, "cluster/cold")];
    expect(holdBack(owner, entries, 0).entries).toBe(entries);
    expect(holdBack(owner, [route("c", 6, "cluster/bad")], 0).entries).toEqual([]);
  });

  it("gives the same array where nothing waits, so that streams share its frame, and reads nothing where no type is behind", () => {
    const { owner, state } = useRoutes({});
    const entries = [route("one", 6, "cluster/good")];
    expect(holdBack(owner, entries, 5).entries).toBe(entries);
    const before = reads;
    const quiet = useRoutes({ bad: "unaccepted" });
    quiet.owner.exchange.accepted = 9;
    quiet.owner.host.sibling(CLUSTER);
    Object.assign(quiet.owner.host.sibling(CLUSTER) ?? {}, { isBehind: false });
    const others = [route("x", 6, "cluster/bad")];
    expect(holdBack(quiet.owner, others, 9).entries).toBe(others);
    for (const of of [{ typeUrl: "route" }, { typeUrl: "route", follows: type.follows ?? [] }]) {
      const unknown = useRoutes({ bad: "unaccepted" }, of);
      expect(holdBack(unknown.owner, others, 5).entries).toBe(others);
    }
    expect(reads).toBe(before);
    expect(state.scheduled).toBe(0);
  });

  it("minds only references to types that are followed by acceptance", () => {
    const { owner } = useRoutes({});
    expect(holdBack(owner, [route("r", 6, "listener/bad")], 5).held).toEqual([]);
  });

  it("starts again, after a rejection, from before the wait that a response ends", () => {
    const { owner, state } = useRoutes({ new: "unaccepted" });
    holdBack(owner, [route("r", 6, "cluster/new")], 5);
    owner.exchange.accepted = 8;
    expect(owner.holds?.from).toBe(5);
    state.lacks = {};
    expect(holdBack(owner, [route("r", 9, "cluster/good")], 8)).toMatchObject({ base: 5 });
    expect(owner.holds?.from).toBe(Infinity);
  });

  it("ends the wait of what a full state does not name any more", () => {
    const { owner, waits } = useRoutes({ new: "unaccepted" });
    holdBack(owner, [route("r", 6, "cluster/new")], 5, true);
    expect(holdBack(owner, [], 7, true)).toMatchObject({ base: 5 });
    expect(waits()).toEqual([]);
  });
});

describe("releasable()", () => {
  it("gives what names nothing any more that the client lacks [S-ORD-2]", () => {
    const { owner, accept, waits } = useRoutes({ new: "unaccepted" });
    const entry = route("r", 6, "cluster/new");
    holdBack(owner, [entry], 5);
    expect(releasable(owner, () => entry)).toEqual([]);
    accept("new", 6);
    expect(releasable(owner, () => entry)).toEqual(["r"]);
    expect(holdBack(owner, [entry], 8)).toMatchObject({ entries: [entry], base: 5 });
    expect(waits()).toEqual([]);
  });

  it("gives what waited in the state with which the wait began, if the newest has to wait on [S-ORD-4]", () => {
    const { owner, state, waits } = useRoutes({ c1: "unaccepted" });
    const [first, newest] = [route("r", 6, "cluster/c1"), route("r", 7, "cluster/c2")];
    holdBack(owner, [first], 5);
    state.lacks = { c1: "absent", c2: "unaccepted" };
    state.carried = "c1";
    holdBack(owner, [newest], 5);
    expect(waits()).toEqual(["r for c2: unaccepted"]);
    expect(releasable(owner, () => newest)).toEqual([]);
    owner.holds?.noteAccepted(CLUSTER, { entries: [added("c1", 6)], base: 5, asked: false });
    expect(releasable(owner, () => newest)).toEqual(["r"]);
    expect(holdBack(owner, [newest], 5)).toEqual({ entries: [first], held: [newest], base: 5 });
    expect(owner.holds?.from).toBe(6);
    expect(releasable(owner, () => newest)).toEqual([]);
  });

  it("does not give that state if what it names was never sent, or only as something that goes", () => {
    const { owner, state } = useRoutes({ c1: "unaccepted" });
    const [first, newest] = [route("r", 6, "cluster/c1"), route("r", 7, "cluster/c2")];
    holdBack(owner, [first], 5);
    state.lacks = { c1: "absent", c2: "unaccepted" };
    owner.holds?.noteAccepted(CLUSTER, { entries: [added("c1", 3)], base: 5, asked: false });
    expect(releasable(owner, () => newest)).toEqual([]);
    holdBack(owner, [newest], 5);
    expect(owner.holds?.byKey.get("r")?.entry).toBe(newest);
  });

  it("ends the wait of a name that comes in another spelling [N-40]", () => {
    const { owner, state, waits } = useRoutes({ new: "unaccepted" });
    holdBack(owner, [route("xdstp://a/t/2", 6, "cluster/new")], 5);
    state.lacks = {};
    holdBack(owner, [route("xdstp://a/t/%32", 6, "cluster/new")], 5);
    expect(waits()).toEqual([]);
  });

  it("forgets what is not subscribed any more, and leaves what has gone to its own order", () => {
    const { owner, waits } = useRoutes({ new: "unaccepted" });
    holdBack(owner, [route("r", 6, "cluster/new"), route("s", 6, "cluster/new")], 5);
    expect(releasable(owner, (name) => (name === "r" ? undefined : removed("s", 7)))).toEqual([]);
    expect(waits()).toEqual(["s for new: unaccepted"]);
  });
});

describe("Holds", () => {
  it("ends a wait after 15 s, says for what it was, and does not wait for that again until it is accepted [S-ORD-4]", () => {
    const { owner, clock, events, state, accept } = useRoutes({ new: "unaccepted" });
    const entry = route("r", 6, "cluster/new");
    holdBack(owner, [entry], 5);
    clock.advance(14_999);
    expect(releasable(owner, () => entry)).toEqual([]);
    clock.advance(1);
    expect(events.at(-1)).toMatchObject({
      kind: "order-expired",
      what: "cut",
      typeUrls: ["route"],
      names: [{ name: "r", for: "new", typeUrl: CLUSTER, why: "unaccepted" }],
    });
    expect(state.scheduled).toBe(1);
    expect(releasable(owner, () => entry)).toEqual(["r"]);
    expect(holdBack(owner, [entry], 5).held).toEqual([]);
    expect(holdBack(owner, [route("r", 7, "cluster/new")], 5).held).toEqual([]);
    accept("new", 6);
    state.lacks = { new: "unaccepted" };
    expect(holdBack(owner, [route("r", 8, "cluster/new")], 5).held).toHaveLength(1);
  });

  it("waits again for what has come back since [S-ORD-2]", () => {
    const { owner, clock, state } = useRoutes({ new: "unaccepted" });
    const entry = route("r", 6, "cluster/new");
    holdBack(owner, [entry], 5);
    clock.advance(15_000);
    expect(holdBack(owner, [entry], 5).held).toEqual([]);
    state.since = 8;
    expect(holdBack(owner, [route("s", 8, "cluster/new")], 5).held).toHaveLength(1);
  });

  it("has no limit for what is rejected, also where nobody has looked since [S-ORD-4]", () => {
    const { owner, clock, events, state } = useRoutes({ bad: "unaccepted" });
    const entry = route("r", 6, "cluster/bad");
    holdBack(owner, [entry], 5);
    state.lacks = { bad: "rejected" };
    clock.advance(60_000);
    expect(events.map(({ kind }) => kind)).toEqual(["held-back"]);
    expect(releasable(owner, () => entry)).toEqual([]);
    expect(owner.holds?.names()).toMatchObject([{ why: "rejected" }]);
    expect(owner.holds?.unansweredSince).toBeUndefined();
  });

  it("opens the gate of a first state when all that it names is accepted, and finds it stale when something has gone that was never sent [S-ORD-4]", () => {
    const { owner, state, accept } = useRoutes({ c1: "unaccepted", bad: "rejected" });
    owner.exchange.accepted = 0;
    const entries = [route("r", 6, "cluster/c1"), route("s", 6, "cluster/bad")];
    const holds = (owner.holds = new Holds(owner));
    expect(holds.gateOf(entries)).toBe("closed");
    expect(holds.isWaiting).toBe(true);
    state.lacks = { c1: "absent" };
    state.carried = "c1";
    expect(holds.gateOf(entries)).toBe("closed");
    state.carried = "";
    expect(holds.gateOf(entries)).toBe("stale");
    holds.resetGate();
    state.lacks = { c1: "unaccepted" };
    expect(holds.gateOf(entries)).toBe("closed");
    accept("c1", 6);
    expect(holds.gateOf(entries)).toBe("open");
    holds.openGate();
    expect(holds.isWaiting).toBe(false);
  });

  it("opens that gate after 15 s, which run on when the state is composed again [S-ORD-4]", () => {
    const { owner, clock, events } = useRoutes({ c1: "unaccepted" });
    owner.exchange.accepted = 0;
    const entries = [route("r", 6, "cluster/c1")];
    const holds = (owner.holds = new Holds(owner));
    holds.gateOf(entries);
    clock.advance(10_000);
    holds.resetGate();
    expect(holds.gateOf(entries)).toBe("closed");
    clock.advance(5_000);
    expect(events).toMatchObject([{ kind: "order-expired", typeUrls: ["route"] }]);
    expect(holds.gateOf(entries)).toBe("open");
  });
});

describe("leaveRejected()", () => {
  it("forgets the wait of what was rejected, unless it waited before", () => {
    const { owner, waits } = useRoutes({ new: "unaccepted" });
    const [r, s] = [route("r", 6, "cluster/new"), route("s", 6, "cluster/new")];
    holdBack(owner, [r, s], 5);
    leaveRejected(owner, new Set(["s"]), [r, s]);
    expect(waits()).toEqual(["s for new: unaccepted"]);
  });
});

describe("lackOf()", () => {
  it("compares with what the client has accepted, and knows what was rejected or waits [S-ORD-4]", () => {
    const { owner } = useRoutes({ new: "unaccepted" });
    expect(lackOf(owner, undefined)).toBe("absent");
    expect(lackOf(owner, removed("a", 3))).toBe("absent");
    expect(lackOf(owner, added("a", 5))).toBeUndefined();
    expect(lackOf(owner, added("a", 6))).toBe("unaccepted");
    holdBack(owner, [route("r", 5, "cluster/new")], 5);
    expect(lackOf(owner, added("r", 5))).toBe("unaccepted");
    owner.exchange.rejected = {
      answered: new Set(),
      changed: new Set(),
      named: new Set(),
      base: 4,
      asked: false,
      entries: [],
      newestEntries: [],
      again: false,
      retry: false,
    };
    expect(lackOf(owner, added("a", 5))).toBe("rejected");
    expect(lackOf(owner, added("a", 4))).toBeUndefined();
  });
});
