import { describe, expect, it } from "vitest";
import { createScheduler, type Drainable, type Scheduler } from "./scheduler.ts";

interface Turns {
  readonly scheduler: Scheduler;
  readonly log: readonly string[];
  /** Runs the next turn. Returns false if there is none. */
  readonly turn: () => boolean;
  readonly stream: (name: string, work?: () => void) => Drainable;
}

function useScheduler(slice?: number): Turns {
  const turns: (() => void)[] = [];
  const log: string[] = [];
  const scheduler = createScheduler({
    later: (callback) => {
      turns.push(callback);
    },
    ...(slice === undefined ? {} : { slice }),
  });
  const turn = (): boolean => {
    const next = turns.shift();
    next?.();
    return next !== undefined;
  };
  const stream = (name: string, work?: () => void): Drainable => ({
    queued: false,
    drain: () => {
      log.push(name);
      work?.();
    },
  });
  return { scheduler, log, turn, stream };
}

describe("createScheduler()", () => {
  it("serves in a later turn, in order of arrival, each once", () => {
    const { scheduler, log, turn, stream } = useScheduler();
    const [a, b] = [stream("a"), stream("b")];
    for (const drainable of [a, b, a]) scheduler.add(drainable);
    expect(log).toEqual([]);
    expect([a.queued, b.queued]).toEqual([true, true]);
    expect(turn()).toBe(true);
    expect(log).toEqual(["a", "b"]);
    expect([a.queued, b.queued]).toEqual([false, false]);
    expect(turn()).toBe(false);
  });

  it("serves no more than a slice in a turn", () => {
    const { scheduler, log, turn, stream } = useScheduler(2);
    for (const name of ["a", "b", "c", "d", "e"]) scheduler.add(stream(name));
    turn();
    expect(log).toEqual(["a", "b"]);
    turn();
    expect(log).toEqual(["a", "b", "c", "d"]);
    turn();
    expect(log).toEqual(["a", "b", "c", "d", "e"]);
    expect(turn()).toBe(false);
  });

  it("takes who comes again while it is served, behind the others", () => {
    const { scheduler, log, turn, stream } = useScheduler(2);
    let again = 2;
    const busy = stream("busy", () => {
      if (again-- > 0) scheduler.add(busy);
    });
    for (const drainable of [busy, stream("b"), stream("c")]) scheduler.add(drainable);
    while (turn());
    expect(log).toEqual(["busy", "b", "c", "busy", "busy"]);
  });

  it("starts again after it was idle", () => {
    const { scheduler, log, turn, stream } = useScheduler();
    const a = stream("a");
    scheduler.add(a);
    turn();
    scheduler.add(a);
    expect(turn()).toBe(true);
    expect(log).toEqual(["a", "a"]);
  });

  it("loses nobody among many", () => {
    const { scheduler, log, turn, stream } = useScheduler(1000);
    const names = Array.from({ length: 20_000 }, (_, i) => String(i));
    for (const name of names) scheduler.add(stream(name));
    while (turn());
    expect(log).toEqual(names);
  });

  it("uses a later turn of the event loop by itself, slices of 256", async () => {
    const scheduler = createScheduler();
    let served = 0;
    const seen: number[] = [];
    for (let i = 0; i < 300; i++)
      scheduler.add({
        queued: false,
        drain: () => {
          served++;
        },
      });
    for (let turn = 0; turn < 3; turn++) {
      seen.push(served);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(seen).toEqual([0, 256, 300]);
  });
});
