import type { Reference } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { added, removed } from "../../../cache/test/kept-entries.ts";
import { useMachine, type UsedMachine, type UseMachine } from "../../test/machine.ts";
import { haveEqualTtls } from "./heartbeat.ts";

const BASE = "type.googleapis.com/test.Base";
const FULL = { type: { fullStateInSotw: true } } as const;

/** Returns the names in the heartbeats of a third of 900 ms. A heartbeat has no body. */
function beats(used: UsedMachine): readonly string[] {
  used.pass(300);
  return used
    .sent()
    .map(({ names, bodies, versions }) =>
      names
        .map(
          (name, index) =>
            `${name} ${String(versions[index])}${bodies[index] === true ? " whole" : ""}`,
        )
        .join(),
    );
}

/** Returns the text of a payload as the name that it refers to. */
function refersTo(payload: Uint8Array): readonly Reference[] {
  return [{ typeUrl: BASE, name: Buffer.from(payload).toString() }];
}

/** A type that is accepted first, on the stream of a client that has rejected some of it, or has not accepted it yet. */
function clustersThat(say: {
  readonly lacks?: (name: string) => boolean;
  readonly awaits?: (name: string) => boolean;
}): object {
  const no = (): boolean => false;
  return { rank: 0, isBusy: true, lacks: no, awaits: no, isCold: no, misses: no, ...say };
}

/** Resources with a TTL of 900 ms; what was sent of them is accepted. */
function holding(names: readonly string[], options?: UseMachine): UsedMachine {
  const used = useMachine(options);
  for (const name of names) used.put(name, { ttlMs: 900, version: "1" });
  used.request({ names });
  used.settle();
  return used;
}

describe("heartbeats of a SotW type", () => {
  it("of a full state keep alive what is gone but must not go yet [S-TTL-8] [S-ORD-3]", () => {
    const used = holding(["a", "b"], FULL);
    const before = used.cache.revision;
    used.remove("a");
    used.put("b", { ttlMs: 900, version: "2" });
    used.drain(before);
    used.ack();
    expect(beats(used).map((names) => names.split(",").sort())).toEqual([["a 1", "b 2"]]);
    used.machine.release(Infinity);
    used.sent();
    used.ack();
    expect(beats(used)).toEqual(["b 2"]);
  });

  it.each([
    ["partial", {}],
    ["full", { fullStateInSotw: true }],
  ] as const)(
    "of a %s state keep alive what is held back as the client has it [S-TTL-2] [S-ORD-4]",
    (_, type) => {
      const lacks = new Set(["bad"]);
      const base = clustersThat({ lacks: (name: string) => lacks.has(name) });
      const used = holding(["a", "b"], {
        type: { ...type, follows: [{ typeUrl: BASE, when: "accepted" }], references: refersTo },
        siblings: { [BASE]: base },
      });
      used.put("a", { ttlMs: 900, version: "2", text: "bad" });
      used.put("b", { ttlMs: 900, version: "2", text: "good" });
      used.settle();
      expect([...used.machine.heldBack.keys()]).toEqual(["a"]);
      expect(beats(used)).toEqual(["b 2,a 1"]);
      lacks.clear();
      used.machine.releaseHolds();
      expect(used.settle()).toMatchObject([
        { names: "fullStateInSotw" in type ? ["a", "b"] : ["a"] },
      ]);
      expect(beats(used)).toEqual(["a 2,b 2"]);
    },
  );

  it("of a partial state keep alive what waits of a response that was taken, as the client has it [S-TTL-2] [S-ORD-4]", () => {
    const awaited = new Set(["new"]);
    const used = holding(["a", "b"], {
      type: {
        follows: [{ typeUrl: BASE, when: "accepted" }],
        references: refersTo,
      },
      siblings: {
        [BASE]: clustersThat({ awaits: (name: string) => awaited.has(name) }),
      },
    });
    used.put("a", { ttlMs: 900, version: "2", text: "new" });
    used.put("b", { ttlMs: 900, version: "2", text: "old" });
    used.machine.take(Infinity);
    used.settle();
    expect(beats(used)).toEqual(["b 2,a 1"]);
  });

  it("have in a full state the pace of the shortest TTL alone [S-TTL-8]", () => {
    const used = useMachine(FULL);
    used.put("a", { ttlMs: 900, version: "1" });
    used.put("b", { ttlMs: 1_800, version: "1" });
    used.put("c", { version: "1" });
    used.request({ names: ["*"] });
    used.settle();
    expect([beats(used), beats(used), beats(used)]).toEqual([
      ["a 1,b 1,c 1 whole"],
      ["a 1,b 1,c 1 whole"],
      ["a 1,b 1,c 1 whole"],
    ]);
    used.put("a", { ttlMs: 2_700, version: "2" });
    used.settle();
    expect([beats(used), beats(used), beats(used), beats(used)]).toEqual([
      [],
      ["b 1,c 1 whole,a 2"],
      [],
      ["b 1,c 1 whole,a 2"],
    ]);
  });

  it("of a full state keep to a shorter TTL alone that came later [S-TTL-8]", () => {
    const used = useMachine(FULL);
    used.put("b", { ttlMs: 1_800, version: "1" });
    used.request({ names: ["*"] });
    used.settle();
    used.put("a", { ttlMs: 900, version: "1" });
    used.settle();
    for (let beat = 0; beat < 6; beat++) expect(beats(used)).toHaveLength(1);
  });

  it("of a full state go on with a longer TTL when what had the shortest is not wanted any more [S-TTL-2] [S-TTL-8]", () => {
    const used = useMachine(FULL);
    used.put("a", { ttlMs: 900, version: "1" });
    used.put("b", { ttlMs: 1_800, version: "1" });
    used.request({ names: ["a", "b"] });
    used.settle();
    used.request({ names: ["b"] });
    const beaten = Array.from({ length: 6 }, () => beats(used)).flat();
    expect(beaten).toEqual(["b 1", "b 1"]);
  });

  it("are of nothing before the first response, and cease with the subscription [S-TTL-2]", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900, version: "1" });
    used.put("b");
    used.request({ names: ["a", "b"] });
    expect(beats(used)).toEqual([]);
    used.settle();
    expect(beats(used)).toEqual(["a 1"]);
    used.ack({ names: ["b"] });
    expect(beats(used)).toEqual([]);
    used.pass(300);
    expect(used.clock.pending).toBe(0);
  });

  it("come at once for who comes back with the version of now, and go on after a rejection [S-TTL-2] [S-RECON-7] [S-ACK-8]", () => {
    const first = useMachine(FULL);
    first.put("a", { ttlMs: 900, version: "1" });
    first.request({ names: ["*"] });
    const [{ version } = { version: "" }] = first.settle();
    const used = useMachine(FULL);
    used.put("a", { ttlMs: 900, version: "1" });
    used.request({ names: ["*"], version });
    expect(used.sent()).toMatchObject([{ names: ["a"], bodies: [false] }]);
    expect(beats(used)).toEqual(["a 1"]);
    used.put("a", { ttlMs: 90_000, version: "2" });
    used.drain();
    used.nack();
    expect([beats(used), beats(used)]).toEqual([["a 1"], ["a 1"]]);
    const plain = useMachine(FULL);
    plain.put("b");
    plain.request({ names: ["*"] });
    const [answer] = plain.settle();
    const back = useMachine(FULL);
    back.put("b");
    back.request({ names: ["*"], version: answer?.version ?? "" });
    expect([back.sent(), back.machine.pending, back.clock.pending]).toEqual([[], false, 0]);
  });

  it("of what was accepted go on at its pace when another TTL is rejected [S-TTL-2] [S-ACK-8]", () => {
    const used = holding(["a"]);
    used.put("a", { ttlMs: 90_000, version: "2" });
    used.drain();
    used.pass(300);
    expect(used.sent()).toEqual([]); // the last response has another TTL
    used.nack();
    expect([beats(used), beats(used)]).toEqual([["a 1"], ["a 1"]]);
  });

  it("are of what a cut was taken with [S-TTL-2] [S-ORD-4]", () => {
    const used = holding(["a"]);
    used.put("a", { ttlMs: 900, version: "2" });
    used.machine.take(Infinity);
    used.put("a", { ttlMs: 900, version: "3" });
    expect(beats(used)).toEqual(["a 1"]);
    used.drain();
    expect(beats(used)).toEqual(["a 2"]);
  });
});

describe("haveEqualTtls()", () => {
  const [a, b, slow] = [
    added("a", { ttlMs: 900 }),
    added("b", { ttlMs: 900 }),
    added("b", { ttlMs: 1_800 }),
  ];
  it.each([
    ["in another order", [a, slow], [slow, a], true],
    ["beside others without one", [a, added("c"), removed("gone")], [a], true],
    ["of another length", [a, b], [a, slow], false],
    ["of other names", [a], [b], false],
    ["that are fewer", [a, b], [a], false],
    ["that change places", [a, slow], [added("a", { ttlMs: 1_800 }), b], false],
  ])("says of TTLs %s whether they are equal [S-TTL-7]", (_, first, second, equal) => {
    expect(haveEqualTtls(first, second)).toBe(equal);
  });
});
