import type { Reference } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { useMachine, type UsedMachine, type UseMachine } from "../../test/machine.ts";

const BASE = "type.googleapis.com/test.Base";
const glob = "xdstp://a/test.Type/x/*";
const member = "xdstp://a/test.Type/x/1";

/** Returns the names in the heartbeats of a third of 900 ms. A heartbeat has no body. */
function beats(used: UsedMachine): readonly string[] {
  used.pass(300);
  return used
    .sent()
    .map(({ resources }) =>
      resources
        .map(
          ({ name, version, resource }) =>
            `${name} ${version}${resource === undefined ? "" : " whole"}`,
        )
        .join(),
    );
}

/** Returns the text of a payload as the name that it refers to. */
function refersTo(payload: Uint8Array): readonly Reference[] {
  return [{ typeUrl: BASE, name: Buffer.from(payload).toString() }];
}

/**
 * A type that is accepted first, on the stream of a client that has rejected some of it, or has not
 * accepted it yet.
 */
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
  used.request({ subscribe: names });
  used.settle();
  return used;
}

describe("heartbeats of a delta type", () => {
  it("keep alive what is removed but must not go yet, once, beside the rest [S-TTL-2] [S-ORD-3]", () => {
    const used = holding(["a", "b"]);
    const before = used.cache.revision;
    used.remove("a");
    used.put("b", { ttlMs: 900, version: "2" });
    used.drain(before);
    used.ack();
    expect(beats(used)).toEqual(["b 2,a 1"]);
    used.machine.release(Infinity);
    used.sent();
    used.ack();
    expect(beats(used)).toEqual(["b 2"]);
  });

  it("keep alive what is held back as the client has it [S-TTL-2] [S-ORD-4]", () => {
    const lacks = new Set(["bad"]);
    const base = clustersThat({ lacks: (name: string) => lacks.has(name) });
    const used = holding(["a", "b"], {
      type: { follows: [{ typeUrl: BASE, when: "accepted" }], references: refersTo },
      siblings: { [BASE]: base },
    });
    used.put("a", { ttlMs: 900, version: "2", text: "bad" });
    used.put("b", { ttlMs: 900, version: "2", text: "good" });
    expect(used.settle()).toMatchObject([{ resources: [{ name: "b" }] }]);
    expect([...used.machine.heldBack.keys()]).toEqual(["a"]);
    expect(beats(used)).toEqual(["b 2,a 1"]);
    lacks.clear();
    used.machine.releaseHolds();
    expect(used.settle()).toMatchObject([{ resources: [{ name: "a" }] }]);
    expect(beats(used)).toEqual(["a 2,b 2"]);
  });

  it("keep alive what waits of a response that was taken, as the client has it [S-TTL-2] [S-ORD-4]", () => {
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
    expect(used.settle()).toMatchObject([{ resources: [{ name: "b" }] }]);
    expect(beats(used)).toEqual(["b 2,a 1"]);
  });

  it("are of nothing while no topic is settled, and of members of a glob too [S-TTL-2]", () => {
    const used = useMachine();
    used.put(member, { ttlMs: 900, version: "1" });
    used.request({ subscribe: [glob] });
    expect(beats(used)).toEqual([]);
    used.settle();
    expect(beats(used)).toEqual([`${member} 1`]);
    used.request({ unsubscribe: [glob] });
    expect(beats(used)).toEqual([]);
    expect(used.clock.pending).toBe(1);
    used.pass(300);
    expect(used.clock.pending).toBe(0);
  });

  it("come once more at once for who comes back, and then at their pace [S-TTL-2] [S-RECON-4]", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900, version: "1" });
    used.put("b");
    used.request({ subscribe: ["a", "b"], initialVersions: new Map([["a", "1"]]) });
    expect(used.drain()).toMatchObject([
      { resources: [{ name: "b" }] },
      { resources: [{ name: "a", version: "1" }] },
    ]);
    used.ack();
    used.put("b", { text: "2" });
    expect(used.drain()).toMatchObject([{ resources: [{ name: "b" }] }]);
    expect(beats(used)).toEqual(["a 1"]);
  });

  it("keep alive what was held before when the first response is rejected [S-TTL-2] [S-ACK-8] [S-RECON-4]", () => {
    const used = useMachine();
    for (const name of ["a", "b", "c"]) used.put(name, { ttlMs: 900, version: "1" });
    used.put("c", { ttlMs: 900, version: "2" });
    used.request({
      subscribe: ["a", "b", "c"],
      initialVersions: new Map([
        ["a", "1"],
        ["b", "1"],
        ["c", "1"],
      ]),
    });
    const [first] = used.drain();
    used.nack({ nonce: first?.nonce ?? "" });
    expect(beats(used)).toEqual(["a 1,b 1"]);
  });

  it("keep alive what was held before when that was all, and the first change is rejected [S-TTL-2] [S-ACK-8] [S-RECON-4]", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900, version: "1" });
    used.request({ subscribe: ["a"], initialVersions: new Map([["a", "1"]]) });
    used.settle();
    used.put("a", { ttlMs: 900, version: "2" });
    used.drain();
    used.nack();
    expect(beats(used)).toEqual(["a 1"]);
  });

  it("keep alive what is asked for by an alias and was held before, whatever else is let go [S-TTL-2] [S-ALIAS-1] [S-RECON-4]", () => {
    const used = useMachine();
    used.put("a", { ttlMs: 900, version: "1", aliases: ["also-a"] });
    used.put("b");
    used.request({ subscribe: ["also-a", "b"], initialVersions: new Map([["a", "1"]]) });
    used.settle();
    used.request({ unsubscribe: ["b"] });
    expect(beats(used)).toEqual(["a 1"]);
  });

  it("that are rejected bring whole what they stand for, if it is still wanted [S-TTL-2]", () => {
    const used = holding(["a", "b"]);
    used.put("c");
    used.request({ subscribe: ["c"] });
    used.settle();
    expect(beats(used)).toEqual(["a 1,b 1"]);
    used.asked.length = 0;
    used.nack({ unsubscribe: ["a"] });
    expect(used.asked).toContain("schedule");
    expect(used.drain()).toMatchObject([
      { resources: [{ name: "b", version: "1", resource: {} }] },
    ]);
    expect(used.events.filter(({ kind }) => kind === "nack")).toHaveLength(1);
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
});
