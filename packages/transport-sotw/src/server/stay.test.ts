import { describe, expect, it } from "vitest";
import { useMachine, type UsedMachine } from "../../test/machine.ts";

const ROUTE = "type.googleapis.com/test.Route";
const orderMs = 1_000;

/**
 * A full state of clusters that are subscribed by name, on a stream with routes that may refer to
 * them, or without.
 */
function clusters(names: readonly string[], withRoutes = true): UsedMachine {
  const used = useMachine({
    type: { fullStateInSotw: true, refersTo: [ROUTE] },
    limits: { orderMs },
    siblings: withRoutes ? { [ROUTE]: {} } : {},
  });
  for (const name of ["a", "b", "c"]) used.put(name);
  used.request({ names });
  used.settle();
  return used;
}

const names = (used: UsedMachine): readonly (readonly string[])[] =>
  used.settle().map((sent) => [...sent.names].sort());
const expired = (used: UsedMachine): number =>
  used.events.filter(({ kind }) => kind === "order-expired").length;

describe("what is gone from a full state while its name is asked for", () => {
  it("stays, until the list leaves it out [S-ORD-3]", () => {
    const used = clusters(["a", "b"]);
    used.remove("a");
    expect(names(used)).toEqual([]); // it is still shown
    used.put("b", { text: "2" });
    expect(names(used)).toEqual([["a", "b"]]);
    used.ack({ names: ["b"] });
    expect(used.clock.pending).toBe(0);
    used.put("b", { text: "3" });
    expect(names(used)).toEqual([["b"]]);
  });

  it("goes when it has stayed too long, each in its time, and that is told [S-ORD-4]", () => {
    const used = clusters(["a", "b", "c"]);
    used.remove("a");
    names(used);
    used.pass(600);
    used.remove("b");
    names(used);
    expect(used.clock.pending).toBe(1);
    used.pass(399);
    expect([used.machine.pending, expired(used)]).toEqual([false, 0]);
    used.asked.length = 0;
    used.pass(1);
    expect([used.machine.pending, expired(used), used.asked]).toEqual([true, 1, ["schedule"]]);
    expect(names(used)).toEqual([["b", "c"]]);
    used.pass(599);
    expect(used.machine.pending).toBe(false);
    used.pass(1);
    expect(names(used)).toEqual([["c"]]);
    expect([expired(used), used.clock.pending]).toEqual([2, 0]);
  });

  it("begins its time anew when it was there in between", () => {
    const used = clusters(["a", "b"]);
    used.remove("a");
    names(used);
    used.pass(900);
    used.put("a", { text: "2" });
    expect(names(used)).toEqual([["a", "b"]]);
    expect(used.clock.pending).toBe(0);
    used.remove("a");
    names(used);
    used.pass(900);
    expect(used.machine.pending).toBe(false);
    used.pass(100);
    expect(names(used)).toEqual([["b"]]);
  });

  it("goes at once where no route is on the stream, or where it is covered by the wildcard alone [S-ORD-3]", () => {
    const alone = clusters(["a", "b"], false);
    alone.remove("a");
    expect(names(alone)).toEqual([["b"]]);
    const all = clusters(["*"]);
    all.remove("a");
    expect(names(all)).toEqual([["b", "c"]]);
    expect(all.clock.pending).toBe(0);
  });

  it("has no timer left when the stream is over", () => {
    const used = clusters(["a", "b"]);
    used.remove("a");
    names(used);
    expect(used.clock.pending).toBe(1);
    used.machine.close();
    expect(used.clock.pending).toBe(0);
  });
});
