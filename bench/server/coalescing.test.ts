import { describe, expect, test } from "vitest";
import { createCoalescing, type Coalescing } from "./coalescing.ts";

interface Bench {
  readonly coalescing: Coalescing;
  /** Ends the turn of the event loop. */
  readonly turn: () => void;
  /** A stream in sync, and what was written to it. */
  readonly stream: () => { readonly written: Buffer[]; write(message: Buffer): void };
}

function bench(): Bench {
  const tasks: (() => void)[] = [];
  const text = (changes: readonly { readonly index: number; readonly stamp: number }[]): Buffer =>
    Buffer.from(
      changes
        .map(({ index, stamp }) => `${index}=${stamp}`)
        .sort()
        .join(" "),
    );
  const coalescing = createCoalescing(text, (task) => {
    tasks.push(task);
  });
  return {
    coalescing,
    turn: () => {
      for (const task of tasks.splice(0)) task();
    },
    stream() {
      const written: Buffer[] = [];
      const stream = {
        written,
        write: (message: Buffer) => {
          written.push(message);
        },
      };
      coalescing.add(stream);
      coalescing.heard(stream);
      coalescing.heard(stream);
      return stream;
    },
  };
}

describe("createCoalescing()", () => {
  test("writes the changes of a turn as one message, the same buffer to all", () => {
    const { coalescing, turn, stream } = bench();
    const [one, other] = [stream(), stream()];
    coalescing.change({ index: 1, stamp: 1 });
    coalescing.change({ index: 2, stamp: 2 });
    turn();
    expect(one.written.map(String)).toEqual(["1=1 2=2"]);
    expect(other.written[0]).toBe(one.written[0]);
  });

  test("holds back until the stream was heard, and then writes the newest only", () => {
    const { coalescing, turn, stream } = bench();
    const one = stream();
    for (const [index, stamp] of [
      [1, 1],
      [2, 2],
      [2, 3],
    ] as const) {
      coalescing.change({ index, stamp });
      turn();
    }
    expect(one.written.map(String)).toEqual(["1=1"]);
    coalescing.heard(one);
    expect(one.written).toHaveLength(1);
    turn();
    expect(one.written.map(String)).toEqual(["1=1", "2=3"]);
  });

  test("writes nothing to a stream that has not acknowledged its first answer", () => {
    const { coalescing, turn } = bench();
    const written: Buffer[] = [];
    const stream = {
      write: (message: Buffer) => {
        written.push(message);
      },
    };
    coalescing.add(stream);
    coalescing.heard(stream);
    coalescing.change({ index: 1, stamp: 1 });
    turn();
    expect(written).toEqual([]);
  });
});
