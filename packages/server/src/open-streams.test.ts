import { createScheduler, type Drainable, type ServerStream } from "@xdstp/protocol/server";
import { createManualScheduler, createMemoryStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createGuardedScheduler, type GuardedStream, guardStream } from "./open-streams.ts";

const fail = (text: string) => (): never => {
  throw new Error(text);
};

/** Opens a guarded stream in memory, with calls of the test. */
function guarded(calls: Partial<ServerStream>): {
  readonly wire: ReturnType<typeof createMemoryStream>;
  readonly stream: GuardedStream;
  readonly faults: string[];
  readonly closed: GuardedStream[];
} {
  const faults: string[] = [];
  const closed: GuardedStream[] = [];
  const served = {
    onMessage: () => undefined,
    onDrained: () => undefined,
    onClosed: () => undefined,
    end: () => undefined,
    ...calls,
  } as unknown as ServerStream;
  let stream: GuardedStream | undefined;
  const wire = createMemoryStream(
    (out) =>
      (stream = guardStream(served, out, {
        fault: (where, error) => {
          faults.push(`${where}: ${String(error)}`);
        },
        closed: (one) => {
          closed.push(one);
        },
      })),
  );
  if (stream === undefined) throw new Error("no stream");
  return { wire, stream, faults, closed };
}

describe("guardStream()", () => {
  it.each([
    [
      "request",
      "onMessage",
      (wire: ReturnType<typeof createMemoryStream>) => {
        wire.send(Uint8Array.of());
      },
    ],
    [
      "drain",
      "onDrained",
      (wire: ReturnType<typeof createMemoryStream>) => {
        wire.fill();
        wire.drain();
      },
    ],
    [
      "end of requests",
      "onEnd",
      (wire: ReturnType<typeof createMemoryStream>) => {
        wire.end();
      },
    ],
  ] as const)(
    "ends the call with INTERNAL and a fixed text when the %s throws [S-STREAM-7]",
    (where, name, act) => {
      const { wire, stream, faults, closed } = guarded({ [name]: fail("secret") });
      act(wire);
      expect(wire.closed).toEqual({ code: 13, message: "internal error" });
      expect(faults).toEqual([`${where}: Error: secret`]);
      expect(closed).toEqual([stream]);
    },
  );

  it("closes the call also when the machine cannot end", () => {
    const { wire, stream, faults } = guarded({ end: fail("worse") });
    stream.fail("turn", new Error("bad"));
    expect(wire.closed).toEqual({ code: 13, message: "internal error" });
    expect(faults).toEqual(["turn: Error: bad", "end: Error: worse"]);
  });

  it("survives a machine that throws when it is closed", () => {
    const { wire, stream, faults, closed } = guarded({ onClosed: fail("late") });
    wire.cancel();
    expect(faults).toEqual(["close: Error: late"]);
    expect(closed).toEqual([stream]);
  });

  it("admits what the machine admits: nothing, if it does not say or throws", () => {
    expect(guarded({ admits: () => true }).stream.admits?.(9, Uint8Array.of())).toBe(true);
    expect(
      guarded({ admits: () => undefined }).stream.admits?.(9, Uint8Array.of()),
    ).toBeUndefined();
    expect(guarded({}).stream.admits?.(9, Uint8Array.of())).toBe(false);
    const broken = guarded({ admits: fail("bad") });
    expect(broken.stream.admits?.(9, Uint8Array.of())).toBe(false);
    expect(broken.wire.closed?.code).toBe(13);
  });

  it("ends with OK when the client has ended and the machine does not care", () => {
    const { wire } = guarded({});
    wire.end();
    expect(wire.closed).toEqual({ code: 0, message: "" });
  });
});

describe("createGuardedScheduler()", () => {
  it("serves the others when one throws, also in the same slice, and says who it was", () => {
    const turns = createManualScheduler();
    const faults: (readonly [Drainable, unknown])[] = [];
    const scheduler = createGuardedScheduler(
      createScheduler({ slice: 2, later: turns.later }),
      (drainable, error) => {
        faults.push([drainable, error]);
      },
    );
    const served: number[] = [];
    const drainable = (id: number): Drainable => ({
      queued: false,
      drain() {
        served.push(id);
        if (id % 2 === 0) throw new Error(String(id));
      },
    });
    const all = [0, 1, 2, 3, 4].map(drainable);
    for (const one of all) scheduler.add(one);
    turns.run();
    expect(served).toEqual([0, 1, 2, 3, 4]);
    expect(faults).toEqual([0, 2, 4].map((id) => [all[id], new Error(String(id))]));
  });

  it("queues once before a turn, and again within it", () => {
    const turns = createManualScheduler();
    const scheduler = createGuardedScheduler(
      createScheduler({ later: turns.later }),
      () => undefined,
    );
    let drains = 0;
    const again: Drainable = {
      queued: false,
      drain() {
        if (++drains === 1) scheduler.add(again);
      },
    };
    scheduler.add(again);
    scheduler.add(again);
    expect(again.queued).toBe(true);
    turns.run();
    expect(drains).toBe(2);
    expect(again.queued).toBe(false);
  });
});
