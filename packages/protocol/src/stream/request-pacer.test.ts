import { describe, expect, it } from "vitest";
import { createTestContext, type TestContext } from "../../test/server-context.ts";
import { lengthDelimited } from "@xdstp/core/wire";
import { createRequestPacer, type RequestPacer, type RequestWeight } from "./request-pacer.ts";

const limits = { changeBurst: 4, changesPerSecond: 100, nackCost: 10 };
const typed = (typeUrl: string, ...names: readonly string[]): Uint8Array =>
  Buffer.concat([...names.map((name) => lengthDelimited(3, name)), lengthDelimited(4, typeUrl)]);
const rejecting = (typeUrl: string): Uint8Array =>
  Buffer.concat([typed(typeUrl), lengthDelimited(6, "error")]);

interface Subject extends TestContext {
  readonly pacer: RequestPacer;
  /** The messages that were processed, as text. */
  readonly acted: string[];
  readonly log: string[];
}

/**
 * A stream that reads the weight of a request from the message: its type, its names, and a field 6
 * that means a rejection.
 */
function usePacer(variant: "delta" | "sotw"): Subject {
  const test = createTestContext({ limits });
  const [acted, log]: [string[], string[]] = [[], []];
  const pacer = createRequestPacer(test.context, {
    variant,
    act(message) {
      const text = Buffer.from(message).toString();
      acted.push(text);
      const names = text.split("\u001a").length - 1;
      const weight: RequestWeight = {
        typeUrl: text.includes("B") ? "B" : "A",
        rejects: text.includes("error"),
        names,
      };
      return variant === "sotw"
        ? {
            ...weight,
            list: Buffer.from(text.replace("error", "")).reduce(
              (sum, byte) => (sum * 31 + byte) | 0,
              7,
            ),
          }
        : weight;
    },
    schedule() {
      log.push("schedule");
    },
    read(on) {
      log.push(on ? "resume" : "pause");
    },
  });
  return { ...test, pacer, acted, log };
}

describe("createRequestPacer() (delta)", () => {
  it("reads no more when the bucket is empty, and on when there is a token [S-LIM-2]", () => {
    const { pacer, log, clock, acted, context } = usePacer("delta");
    for (let i = 0; i < 4; i++) pacer.take(typed("A", `n${i}`));
    expect(log).toEqual(["pause"]);
    clock.advance(9);
    expect(log).toEqual(["pause"]);
    clock.advance(1);
    expect(log).toEqual(["pause", "schedule", "resume"]);
    pacer.take(typed("A", "n5"));
    expect([acted.length, log.at(-1), context.limited.counts]).toEqual([
      5,
      "pause",
      { changesPerSecond: 2 },
    ]);
  });

  it("takes nothing for a message that changes no subscription, more for a rejection and for a long list [S-LIM-2]", () => {
    const { pacer, log, clock } = usePacer("delta");
    for (let i = 0; i < 100; i++) pacer.take(typed("A"));
    expect(log).toEqual([]);
    pacer.take(rejecting("A"));
    clock.advance(69);
    expect(log).toEqual(["pause"]);
    clock.advance(1);
    expect(log).toHaveLength(3);
    clock.advance(1000);
    pacer.take(typed("A", ...Array.from({ length: 3000 }, () => "n")));
    expect(log.at(-1)).toBe("pause");
  });
});

describe("createRequestPacer() (sotw)", () => {
  it("reads no more when the bucket is empty and lists come that are too long to wait [S-LIM-2]", () => {
    const { pacer, log, clock, acted } = usePacer("sotw");
    const long = (word: string): Uint8Array =>
      typed("A", ...Array.from({ length: 600 }, (_, n) => `${word}${n}`.padEnd(2_000, "x")));
    for (let i = 0; i < 4; i++) pacer.take(long(`n${i}-`));
    expect([acted.length, log]).toEqual([4, ["pause"]]);
    clock.advance(10);
    expect(log).toEqual(["pause", "schedule", "resume"]);
  });

  it("acts at once while half of the bucket is left, then once a turn on the newest of each type [S-LIM-2]", () => {
    const { pacer, acted, log } = usePacer("sotw");
    for (let i = 0; i < 10; i++) {
      pacer.take(typed("A", `a${i}`));
      pacer.take(typed("B", `b${i}`));
    }
    expect(acted).toHaveLength(2);
    expect([pacer.waits, log[0]]).toEqual([true, "schedule"]);
    pacer.turn(false);
    expect(acted.slice(2).map((text) => text.slice(2, 4))).toEqual(["a9", "b9"]);
    expect(pacer.waits).toBe(false);
  });

  it("waits for a token with the newest of each type, and does not stop reading [S-LIM-2]", () => {
    const { pacer, acted, log, clock } = usePacer("sotw");
    for (let i = 0; i < 5; i++) {
      pacer.take(typed("A", `a${i}`));
      pacer.turn(false);
    }
    expect(acted).toHaveLength(4);
    for (let i = 0; i < 1000; i++) pacer.take(typed("A", `x${i}`));
    clock.advance(10);
    pacer.turn(false);
    expect(acted.at(-1)).toContain("x999");
    expect([acted.length, log.includes("pause")]).toEqual([5, false]);
  });

  it("keeps a copy of what waits: the bytes belong to the wire", () => {
    const { pacer, acted } = usePacer("sotw");
    for (let i = 0; i < 3; i++) {
      const message = Buffer.from(typed("A", `a${i}`));
      pacer.take(message);
      message.fill(0);
    }
    pacer.turn(false);
    expect(acted.at(-1)).toContain("a2");
  });

  it("takes nothing for the same list again [S-LIM-2]", () => {
    const { pacer, acted } = usePacer("sotw");
    pacer.take(typed("A", "a"));
    for (let i = 0; i < 100; i++) pacer.take(typed("A", "a"));
    expect(acted).toHaveLength(101);
  });

  it("loses no rejection: it is acted on at once, its list is newer than what waits, and the stream is read no more [S-LIM-2]", () => {
    const { pacer, acted, log } = usePacer("sotw");
    for (let i = 0; i < 3; i++) pacer.take(typed("A", `a${i}`));
    pacer.take(rejecting("A"));
    expect([acted.at(-1)?.includes("error"), pacer.waits, log.at(-1)]).toEqual([
      true,
      false,
      "pause",
    ]);
  });

  it("forgets what waits when a plain ACK has come since, acts on all of it at the end of the requests, and on nothing when it is over", () => {
    const { pacer, acted, clock } = usePacer("sotw");
    for (let i = 0; i < 3; i++) pacer.take(typed("A", `a${i}`));
    pacer.supersede("A");
    expect(pacer.waits).toBe(false);
    for (let i = 0; i < 10; i++) {
      pacer.take(typed("A", `b${i}`));
      pacer.turn(true);
    }
    expect(acted.at(-1)).toContain("b9");
    pacer.take(typed("A", "c"));
    pacer.turn(false);
    pacer.stop();
    expect([pacer.waits, clock.timers]).toEqual([false, 0]);
  });

  it("lets no more than 1 MiB wait [S-LIM-2]", () => {
    const { pacer, acted } = usePacer("sotw");
    for (let i = 0; i < 3; i++) pacer.take(typed("A", `a${i}`));
    pacer.take(typed("B", "x".repeat(1 << 20)));
    expect(acted.at(-1)?.length).toBeGreaterThan(1 << 20);
  });
});
