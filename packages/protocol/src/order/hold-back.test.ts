import type { Entry, ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { added, removed, storedResource } from "../../test/entries.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import {
  heldBackFrom,
  heldSince,
  holdBack,
  type HoldOwner,
  leaveRejected,
  MOST_HOLDS,
  releaseHolds,
  waitsAsWhole,
} from "./hold-back.ts";
import { NO_HOLDS } from "./hold.ts";

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
const route = (name: string, ...references: readonly string[]): Entry => ({
  ...added(name),
  resource: storedResource(name, new TextEncoder().encode(references.join(" "))),
});

/** The clusters that the client of a test lacks, by name. */
interface Lacks {
  readonly lacks: Set<string>;
  readonly awaits: Set<string>;
  readonly cold: Set<string>;
  /** The removed names, each with what the client knows of it. */
  readonly removed: Map<string, "accepted" | "in-flight" | "never-sent">;
  isBusy: boolean;
  mayBeCold: boolean;
}

function useHolds(subject: ResourceType = type): {
  readonly owner: HoldOwner & { exchange: { accepted: number } };
  readonly clusters: Lacks;
  /** Advances the clock by this number of milliseconds. */
  readonly wait: (ms: number) => void;
  readonly names: (entries: readonly Entry[]) => readonly string[];
} {
  const clusters: Lacks = {
    lacks: new Set(),
    awaits: new Set(),
    cold: new Set(),
    removed: new Map(),
    isBusy: true,
    mayBeCold: true,
  };
  let now = 100;
  const sibling = {
    get isBusy() {
      return clusters.isBusy;
    },
    get mayBeCold() {
      return clusters.mayBeCold;
    },
    rank: 0,
    lacks: (name: string) => clusters.lacks.has(name),
    awaits: (name: string) => clusters.awaits.has(name),
    isCold: (name: string) => clusters.cold.has(name),
    misses: (name: string) => clusters.removed.has(name),
    removed: (name: string) => clusters.removed.get(name) ?? "never-sent",
    hasAccepted: () => false,
    warm: () => undefined,
  };
  const host: Pick<TypeHost, "sibling"> = {
    sibling: (typeUrl) => (typeUrl === CLUSTER || typeUrl === "listener" ? sibling : undefined),
  };
  const owner = {
    type: subject,
    rank: 1,
    host,
    context: { clock: { now: () => now }, limits: { orderMs: 15_000 }, source: { revision: 9 } },
    exchange: { accepted: 5 },
    sent: 9,
    heldBack: NO_HOLDS,
  };
  return {
    owner,
    clusters,
    wait(ms) {
      now += ms;
    },
    names: (entries) => holdBack(owner, entries, { from: 3 }).map(({ name }) => name),
  };
}

describe("holdBack()", () => {
  it.each(["lacks", "awaits", "cold"] as const)(
    "leaves out what refers to a name of which the client says %s, and keeps why [S-ORD-2] [S-ORD-4]",
    (why) => {
      const { owner, clusters, names } = useHolds();
      clusters[why].add("new");
      const one = route("one", "cluster/old", "cluster/new");
      expect(names([one, route("two", "cluster/old"), removed("gone")])).toEqual(["two", "gone"]);
      expect([...owner.heldBack]).toEqual([
        [
          "one",
          {
            phase: why === "lacks" ? "rejected" : "unaccepted",
            lacking: { typeUrl: CLUSTER, name: "new" },
            entry: one,
            from: 3,
            since: 100,
            at: 9,
          },
        ],
      ]);
      expect(heldBackFrom(owner.heldBack)).toBe(3);
      expect(heldSince(owner.heldBack)).toBe(why === "lacks" ? Infinity : 100);
    },
  );

  it("gives the same array where nothing waits, so that streams share its frame", () => {
    const { owner } = useHolds();
    const entries = [route("one", "cluster/old"), route("two", "cluster/old")];
    expect(holdBack(owner, entries, { from: 3 })).toBe(entries);
    expect(owner.heldBack).toBe(NO_HOLDS);
    expect([heldBackFrom(NO_HOLDS), heldSince(NO_HOLDS)]).toEqual([Infinity, Infinity]);
  });

  it("reads nothing where all is accepted, where references are not known, or where only the sending is followed", () => {
    const before = reads;
    const entries = [route("r", "cluster/new", "listener/new")];
    const settled = useHolds();
    settled.clusters.awaits.add("new");
    settled.clusters.isBusy = false;
    settled.clusters.mayBeCold = false;
    expect(holdBack(settled.owner, entries, { from: 3 })).toBe(entries);
    for (const subject of [
      { typeUrl: "route" },
      { typeUrl: "route", follows: type.follows ?? [] },
      { ...type, follows: [{ typeUrl: "listener", when: "sent" as const }] },
    ]) {
      const { owner, clusters } = useHolds(subject);
      clusters.awaits.add("new");
      expect(holdBack(owner, entries, { from: 3 })).toBe(entries);
    }
    expect(reads).toBe(before);
  });

  it("reads a payload once, however many streams ask", () => {
    const entry = route("r", "cluster/new");
    const before = reads;
    for (let stream = 0; stream < 5; stream++) {
      const { clusters, names } = useHolds();
      clusters.awaits.add("new");
      expect(names([entry])).toEqual([]);
    }
    expect(reads).toBe(before + 1);
  });

  it("knows a name in each of its spellings [N-40]", () => {
    const { owner, clusters, names } = useHolds();
    clusters.awaits.add("new");
    expect(names([route("xdstp://a/t.T/0", "cluster/new")])).toEqual([]);
    clusters.awaits.clear();
    expect(names([route("xdstp://a/t.T/%30", "cluster/new")])).toEqual(["xdstp://a/t.T/%30"]);
    expect(owner.heldBack).toBe(NO_HOLDS);
  });

  it("looks at what is cold only after the client has accepted something of the type [S-WARM-2]", () => {
    const { owner, clusters, names } = useHolds();
    clusters.cold.add("new");
    owner.exchange.accepted = 0;
    expect(names([route("r", "cluster/new")])).toEqual(["r"]);
  });

  it("leaves nothing out that has to be shown", () => {
    const { owner, clusters } = useHolds();
    clusters.lacks.add("bad");
    const entries = [route("r", "cluster/bad"), route("s", "cluster/bad")];
    const sendable = holdBack(owner, entries, { from: 3, mustShow: ({ name }) => name === "r" });
    expect(sendable.map(({ name }) => name)).toEqual(["r"]);
    expect([...owner.heldBack.keys()]).toEqual(["s"]);
  });

  it("waits for no type that follows it in a ring [S-ORD-5]", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    const entries = [route("r", "cluster/new")];
    expect(holdBack({ ...owner, rank: 0 }, entries, { from: 3 })).toBe(entries);
  });

  it("waits only for what was rejected once the time is over [S-ORD-4]", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    clusters.lacks.add("bad");
    const entries = [route("r", "cluster/new"), route("s", "cluster/bad")];
    expect(holdBack(owner, entries, { from: 3, isLimited: false }).map(({ name }) => name)).toEqual(
      ["r"],
    );
  });
});

describe("the state that waits", () => {
  const first = { ...route("r", "cluster/a"), revision: 7 };
  const second = { ...route("r", "cluster/b"), revision: 8 };

  it("goes before a newer one that has to wait as well [S-ORD-4]", () => {
    const { owner, clusters } = useHolds();
    for (const name of ["a", "b"]) clusters.awaits.add(name);
    expect(holdBack(owner, [first], { from: 3 })).toEqual([]);
    clusters.awaits.delete("a");
    expect(holdBack(owner, [second], { from: 3 })).toEqual([first]);
    expect(owner.heldBack.get("r")).toMatchObject({ entry: second, from: 7 });
    clusters.awaits.delete("b");
    expect(holdBack(owner, [second], { from: 3 })).toEqual([second]);
    expect(owner.heldBack).toBe(NO_HOLDS);
  });

  it("is kept while it waits itself, and given up where it refers to what the client will not have", () => {
    const { owner, clusters } = useHolds();
    for (const name of ["a", "b"]) clusters.awaits.add(name);
    holdBack(owner, [first], { from: 3 });
    holdBack(owner, [second], { from: 3 });
    expect(owner.heldBack.get("r")).toMatchObject({ entry: first });
    clusters.awaits.delete("a");
    clusters.removed.set("a", "in-flight");
    holdBack(owner, [second], { from: 3 });
    expect(owner.heldBack.get("r")).toMatchObject({ entry: first });
    clusters.removed.set("a", "never-sent");
    holdBack(owner, [second], { from: 3 });
    expect(owner.heldBack.get("r")).toMatchObject({ entry: second });
  });

  it("goes where its cluster is accepted and removed since: that removal waits for it [S-ORD-3]", () => {
    const { owner, clusters } = useHolds();
    for (const name of ["a", "b"]) clusters.awaits.add(name);
    holdBack(owner, [first], { from: 3 });
    clusters.awaits.delete("a");
    clusters.removed.set("a", "accepted");
    expect(holdBack(owner, [second], { from: 3 })).toEqual([first]);
  });
});

describe("releaseHolds()", () => {
  const entry = route("r", "cluster/new");

  it("names what may go by now, and what has waited for 15 s [S-ORD-4]", () => {
    const { owner, clusters, wait } = useHolds();
    clusters.awaits.add("new");
    holdBack(owner, [entry], { from: 3 });
    expect(releaseHolds(owner, () => entry)).toEqual([]);
    wait(14_999);
    expect(releaseHolds(owner, () => entry)).toEqual([]);
    wait(1);
    expect(releaseHolds(owner, () => entry)).toEqual(["r"]);
    expect(heldSince(owner.heldBack)).toBe(Infinity);
    expect(holdBack(owner, [entry], { from: 3 })).toEqual([entry]);
    expect(owner.heldBack).toBe(NO_HOLDS);
  });

  it("names what waits no longer, also in a newer state", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    holdBack(owner, [entry], { from: 3 });
    expect(releaseHolds(owner, () => route("r", "cluster/old"))).toEqual(["r"]);
    clusters.awaits.clear();
    expect(releaseHolds(owner, () => entry)).toEqual(["r"]);
  });

  it("sets no limit to a wait for what is rejected, and begins one with its correction [S-ORD-4]", () => {
    const { owner, clusters, wait } = useHolds();
    clusters.awaits.add("new");
    holdBack(owner, [entry], { from: 3 });
    clusters.lacks.add("new");
    wait(60_000);
    expect(releaseHolds(owner, () => entry)).toEqual([]);
    expect(heldSince(owner.heldBack)).toBe(Infinity);
    clusters.lacks.clear();
    expect(releaseHolds(owner, () => entry)).toEqual([]);
    expect(heldSince(owner.heldBack)).toBe(60_100);
  });

  it("forgets a name that is not wanted any more", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    holdBack(owner, [entry], { from: 3 });
    expect(releaseHolds(owner, () => undefined)).toEqual([]);
    expect(owner.heldBack).toBe(NO_HOLDS);
  });

  it.each([removed("r"), "removed" as const])(
    "keeps a name that was removed until the client is told: it has the old state so long [S-ORD-3]",
    (newest) => {
      const { owner, clusters } = useHolds();
      clusters.awaits.add("new");
      holdBack(owner, [entry], { from: 3 });
      expect(releaseHolds(owner, () => newest)).toEqual([]);
      expect(releaseHolds(owner, () => entry)).toEqual([]);
      expect([heldBackFrom(owner.heldBack), heldSince(owner.heldBack)]).toEqual([3, Infinity]);
      expect(holdBack(owner, [removed("r")], { from: 7 })).toEqual([removed("r")]);
      expect(owner.heldBack).toBe(NO_HOLDS);
    },
  );

  it("keeps how long the client has had the old state of a name that was removed and waits again [S-ORD-3]", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    holdBack(owner, [entry], { from: 3 });
    releaseHolds(owner, () => "removed");
    expect(holdBack(owner, [entry], { from: 7 })).toEqual([]);
    expect(owner.heldBack.get("r")).toMatchObject({ phase: "unaccepted", from: 3 });
  });
});

describe("waitsAsWhole()", () => {
  const many = Array.from({ length: MOST_HOLDS + 1 }, (_, n) => route(`r${n}`, "cluster/new"));

  it("is true for more names than wait one by one, those that wait already included", () => {
    const { owner, clusters } = useHolds();
    const isWhole = (entries: readonly Entry[]): boolean =>
      waitsAsWhole(owner, entries, { isNeverEmpty: false });
    clusters.awaits.add("new");
    expect(isWhole(many)).toBe(true);
    expect(isWhole(many.slice(1))).toBe(false);
    holdBack(owner, many.slice(0, 2), { from: 3 });
    expect(isWhole(many.slice(1))).toBe(true);
    expect(isWhole(many.slice(2))).toBe(true);
    expect(isWhole(many.slice(0, MOST_HOLDS))).toBe(false);
  });

  it("is true where a name lacks something that has to be shown, or where nothing would be left", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    const two = [route("r", "cluster/new"), route("s", "cluster/old")];
    const showing = (shown: string): boolean =>
      waitsAsWhole(owner, two, { isNeverEmpty: true, mustShow: ({ name }) => name === shown });
    expect([showing("r"), showing("s")]).toEqual([true, false]);
    expect(waitsAsWhole(owner, many.slice(0, 1), { isNeverEmpty: true })).toBe(true);
    expect(waitsAsWhole(owner, many.slice(0, 1), { isNeverEmpty: false })).toBe(false);
  });

  it("is false where the others may go, or there are none", () => {
    const { owner } = useHolds();
    expect(waitsAsWhole(owner, many, { isNeverEmpty: true })).toBe(false);
    expect(waitsAsWhole(owner, [], { isNeverEmpty: true })).toBe(false);
  });
});

describe("leaveRejected()", () => {
  it("leaves what was rejected and would wait now, but not what waited before [S-ACK-8]", () => {
    const { owner, clusters } = useHolds();
    clusters.awaits.add("new");
    const [one, two] = [route("one", "cluster/new"), route("two", "cluster/new")];
    holdBack(owner, [one], { from: 3 });
    const before = owner.heldBack;
    holdBack(owner, [two], { from: 3 });
    leaveRejected(owner, before, [one, two]);
    expect([...owner.heldBack.keys()]).toEqual(["one"]);
    leaveRejected(owner, NO_HOLDS, [one, two]);
    expect(owner.heldBack).toBe(NO_HOLDS);
  });
});
