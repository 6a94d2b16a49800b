import { describe, expect, it } from "vitest";
import { addHash, versionOf } from "@xdstp/protocol/server";
import { TYPE } from "../../../cache/test/kept-entries.ts";
import { useMachine, type UsedMachine, type UseMachine } from "../../test/machine.ts";

const glob = "xdstp://a/test.Type/x/*";
const member = (id: string): string => `xdstp://a/test.Type/x/${id}`;

/** A type with these names and subscriptions, all accepted. */
function accepted(
  names: readonly string[],
  subscribe: readonly string[] = names,
  options?: UseMachine,
): UsedMachine {
  const used = useMachine(options);
  for (const name of names) used.put(name);
  used.request({ subscribe });
  used.settle();
  return used;
}

const versions = (used: UsedMachine): readonly string[] =>
  used.settle().map(({ systemVersionInfo }) => systemVersionInfo);

describe("the version of a delta response", () => {
  it("is that of the content: equal whatever the revision, and back again with the content [S-VER-3, S-VER-4]", () => {
    const used = useMachine();
    used.put("a");
    used.request({ subscribe: ["a"] });
    const [first = ""] = versions(used);
    used.put("elsewhere");
    used.put("a", { text: "2" });
    const [second = ""] = versions(used);
    used.put("a");
    expect(versions(used)).toEqual([first]);
    expect([first, second]).toEqual([
      expect.stringMatching(/^[0-9a-z]{8,11}$/),
      expect.not.stringMatching(`^${first}$`),
    ]);
  });

  it("is the sum over all subscriptions, also where one of several has changed, and without what was unsubscribed [S-VER-3]", () => {
    const used = accepted([member("1"), member("2"), "b"], [glob, "b"]);
    const hashNow = (...names: readonly string[]): string =>
      versionOf(
        names.reduce((sum, name) => addHash(sum, used.cache.topic(TYPE, { name }).hash), 0),
      );
    used.put(member("1"), { text: "new" });
    expect(versions(used)).toEqual([hashNow(glob, "b")]);
    used.put("b", { text: "new" });
    used.put(member("2"), { text: "new" });
    expect(versions(used)).toEqual([hashNow(glob, "b")]);
    used.remove(member("2"));
    expect(versions(used)).toEqual([hashNow(glob, "b")]);
    used.request({ unsubscribe: ["b"], subscribe: ["c"] });
    used.put("c");
    expect(versions(used).at(-1)).toBe(hashNow(glob, "c"));
  });
});

describe("gather()", () => {
  it("ends a stream that needs a history which is gone, whether one topic has news or several, or a cut is taken", () => {
    for (const [subscribe, drain] of [
      [["*"], "drain"],
      [["*", "a"], "drain"],
      [["*"], "take"],
    ] as const) {
      const used = accepted(["a", "b", "c", "d"], subscribe, {
        cache: { tombstoneCount: 1, tombstoneMs: 1 },
      });
      for (const name of ["b", "c", "d", "a"]) used.remove(name);
      used.pass(3_600_000);
      used.put("e");
      used.machine[drain](Infinity);
      expect(used.asked.filter((call) => call.startsWith("end"))).toEqual([
        "end 14 too far behind: reconnect with the cached versions undefined",
      ]);
      expect(used.sent()).toEqual([]);
    }
  });

  it("starts again from what was rejected, also where another topic has news [S-ACK-8]", () => {
    const used = accepted(["a", "b", "c"]);
    const base = used.machine.view().exchange.accepted;
    used.put("a", { text: "bad" });
    used.put("b", { text: "bad" });
    used.drain();
    used.nack();
    used.put("c", { text: "2" });
    const [again] = used.drain();
    expect(again?.resources.map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
    expect([used.machine.answeredUpTo, used.machine.rejecting]).toEqual([base, false]);
    used.ack();
    expect(used.machine.view().exchange.accepted).toBe(used.cache.revision);
  });

  it("sends a removal that waited once, merged with what else waited, unless the name is back or not wanted any more [S-ORD-3]", () => {
    const used = accepted([...["1", "2", "3", "4"].map(member), "b"], [glob, "b"]);
    const before = used.cache.revision;
    for (const id of ["1", "2", "3"]) used.remove(member(id));
    used.remove("b");
    expect(used.settle()).toHaveLength(1);
    const waiting = accepted([...["1", "2", "3", "4"].map(member), "b"], [glob, "b"]);
    for (const name of [member("1"), member("2"), "b"]) waiting.remove(name);
    const half = waiting.cache.revision;
    waiting.remove(member("3"));
    expect(waiting.drain(before)).toEqual([]);
    waiting.put(member("2"), { text: "back" });
    waiting.request({ unsubscribe: ["b"] });
    expect(waiting.drain(half)).toMatchObject([
      { resources: [{ name: member("2") }], removedResources: [member("1")] },
    ]);
    waiting.ack();
    waiting.machine.release(Infinity);
    expect(waiting.sent()).toMatchObject([{ resources: [], removedResources: [member("3")] }]);
  });

  it("lets what an answer removes wait with its collection's emptiness, and says at once what was never there [S-GLOB-3] [S-ORD-3]", () => {
    const used = accepted([member("1")], [glob]);
    const before = used.cache.revision;
    used.remove(member("1"));
    used.request({ subscribe: [glob] });
    expect(used.drain(before)).toEqual([]);
    used.request({ subscribe: ["missing", "xdstp://a/test.Type/y/*"] });
    expect(used.drain(before)).toMatchObject([
      { removedResources: ["missing", "xdstp://a/test.Type/y/*"] },
    ]);
    used.ack();
    used.machine.release(Infinity);
    expect(used.sent().flatMap(({ removedResources }) => [...removedResources].sort())).toEqual(
      [glob, member("1")].sort(),
    );
  });

  it("says that a collection is empty only to who asks for it still, while it is [S-GLOB-3]", () => {
    for (const [what, change, removed] of [
      ["still", () => undefined, [glob, member("1")]],
      [
        "no more",
        (used: UsedMachine) => {
          used.request({ unsubscribe: [glob] });
        },
        [member("1")],
      ],
      [
        "not empty",
        (used: UsedMachine) => {
          used.put(member("2"));
          used.machine.drain(0);
          used.ack();
          used.sent();
        },
        [member("1")],
      ],
    ] as const) {
      const used = accepted([member("1")], [glob, "*"]);
      const before = used.cache.revision;
      used.remove(member("1"));
      expect(used.drain(before), what).toEqual([]);
      change(used);
      used.machine.release(Infinity);
      expect(
        used
          .sent()
          .flatMap(({ removedResources }) => removedResources)
          .sort(),
        what,
      ).toEqual([...removed].sort());
    }
  });
});
