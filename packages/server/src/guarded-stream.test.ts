import { createMemoryStream } from "@xdstp/testing";
import type { ServerStream } from "@xdstp/protocol/server";
import { describe, expect, it } from "vitest";
import { guardStream, type GuardedStream } from "./guarded-stream.ts";

const fail = (text: string) => (): never => {
  throw new Error(text);
};

/** A guarded stream over calls of a test's own, on a wire in memory. */
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
