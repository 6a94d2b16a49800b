import { forwardSink, XdsError, type ResourceSink } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn, type ClientWorld } from "./harness/client-world.ts";

/** Rejects each resource whose text begins with `bad`. */
const picky = madeUpTypes.map((type) => ({
  ...type,
  validate: ({ name, payload }: { name: string; payload: { value: Uint8Array } }) =>
    Buffer.from(payload.value).includes("bad")
      ? new XdsError("INVALID_ARGUMENT", `the payload of ${name} is bad`)
      : undefined,
}));

/** Commits when the test says so. */
function createLateSink(): { readonly sink: (sink: ResourceSink) => ResourceSink; settle(): void } {
  const waiting: (() => void)[] = [];
  return {
    sink: (sink) => ({
      commit: (transaction) => ({
        revision: 0,
        decided: new Promise((resolve, reject) => {
          waiting.push(() => {
            try {
              resolve(sink.commit(transaction));
            } catch (error) {
              reject(XdsError.from(error));
            }
          });
        }),
      }),
      held: (...what) => sink.held(...what),
      unavailable: (...what) => {
        sink.unavailable(...what);
      },
    }),
    settle() {
      waiting.shift()?.();
    },
  };
}

/** Creates watchers that accept updates when the test lets them. */
function createSlowWatchers(): {
  readonly sink: (sink: ResourceSink) => ResourceSink;
  take(): void;
  fail(): void;
} {
  const waiting: (() => void)[] = [];
  const failing: ((error: Error) => void)[] = [];
  return {
    sink: (sink) => ({
      commit: (transaction) => ({
        ...sink.commit(transaction),
        taken: new Promise<void>((resolve, reject) => {
          waiting.push(resolve);
          failing.push(reject);
        }),
      }),
      held: (...what) => sink.held(...what),
      unavailable: (...what) => {
        sink.unavailable(...what);
      },
    }),
    take() {
      waiting.shift()?.();
    },
    fail() {
      failing.shift()?.(new Error("a watcher failed"));
    },
  };
}

describe.each(["delta", "sotw"] as const)("ACK and NACK (%s)", (variant) => {
  it("each response gets one answer with its nonce, at once [C-ACK-1] [C-ACK-12]", async () => {
    const { ask, server } = createClientWorld(variant, { types: picky });
    await ask(PART, "a");
    server.rest();
    for (const text of ["1", "bad", "2", "bad", "3"]) {
      const nonce = server.reply(PART, { resources: [{ name: "a", text }] });
      const answer = server.next();
      expect([answer.nonce, answer.error === undefined]).toEqual([nonce, text !== "bad"]);
      await turn();
      expect(server.rest()).toEqual([]);
    }
  });

  it("the good ones of a response are taken, the bad ones stay as they were, and the NACK names each with its reason [C-ACK-5]", async () => {
    const { ask, server, want, events } = createClientWorld(variant, { types: picky });
    const watched = await ask(PART, "a", "b", "c");
    server.reply(PART, {
      version: "v1",
      resources: ["a", "b", "c"].map((name) => ({ name, text: "1" })),
    });
    server.rest();
    server.reply(PART, {
      version: "v2",
      resources: [
        { name: "a", text: "2" },
        { name: "b", text: "bad" },
        { name: "c", text: "2", payloadType: FULL },
      ],
    });
    expect(watched.map(({ now }) => now)).toEqual([
      "a=2",
      "b=1 ~INVALID_ARGUMENT",
      "c=1 ~INVALID_ARGUMENT",
    ]);
    const { error } = server.next();
    expect(error?.message).toMatch(
      /2 resources rejected: "c": its payload has the type .*; "b": the payload of b is bad/,
    );
    expect(want(PART, "b")).toMatchObject({
      state: "rejected",
      rejected: [{ name: "b", version: "v2" }],
    });
    expect(events.at(-1)).toMatchObject({
      kind: "rejected",
      version: "v2",
      resources: 3,
      names: [{ name: "c" }, { name: "b" }],
    });
    server.reply(PART, {
      version: "v3",
      resources: [
        { name: "b", text: "3" },
        { name: "c", text: "3" },
      ],
    });
    expect([watched.map(({ now }) => now), want(PART, "b").rejected]).toEqual([
      ["a=2", "b=3", "c=3"],
      [],
    ]);
  });

  it("a NACK has the code INVALID_ARGUMENT [C-ACK-14]", async () => {
    const { ask, server } = createClientWorld(variant, { types: picky });
    await ask(PART, "a");
    server.rest();
    server.reply(PART, { resources: [{ name: "a", text: "bad" }] });
    expect(server.next().error?.code).toBe(3);
  });

  it("a server that answers each NACK with what was rejected is answered later and later, and at once when anything else comes or is wanted [C-ACK-20]", async () => {
    const { ask, server, clock } = createClientWorld(variant, { types: picky });
    await ask(PART, "a");
    const bad = (version = "v1"): string =>
      server.reply(PART, { version, resources: [{ name: "a", text: "bad" }] });
    const wait = async (): Promise<number> => {
      server.rest();
      bad();
      const start = clock.now();
      for (let asked = server.rest(); asked.length === 0; asked = server.rest()) {
        clock.advance(100);
        await turn();
      }
      return clock.now() - start;
    };
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) waits.push(await wait());
    expect(waits).toEqual([0, 0, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    const waiting = [bad(), bad("v2")];
    expect(server.rest().map(({ nonce }) => nonce)).toEqual(waiting);
    bad("v2");
    server.rest();
    const nonce = bad("v2");
    expect(server.rest()).toEqual([]);
    await ask(FULL, "x");
    expect(server.rest().map(({ typeUrl }) => typeUrl)).toEqual([FULL]);
    await ask(PART, "b");
    expect(server.rest()).toMatchObject([
      { nonce, names: variant === "delta" ? ["b"] : ["a", "b"], error: { code: 3 } },
    ]);
  });

  it("states of a resource that differ in their versions are rejected at once, one after the other [C-ACK-20] [C-ACK-1]", async () => {
    const { ask, server } = createClientWorld(variant, { types: picky });
    await ask(PART, "a");
    server.rest();
    for (let n = 0; n < 5; n++) {
      server.reply(PART, {
        version: "same",
        resources: [{ name: "a", version: String(n), text: "bad" }],
      });
      expect(server.rest()).toHaveLength(1);
    }
  });

  it("the same error for the same version is told once [C-ACK-18]", async () => {
    const { ask, server } = createClientWorld(variant, { types: picky });
    const [a] = await ask(PART, "a");
    const wakes = (): number => a?.wakes ?? 0;
    server.reply(PART, { version: "v1", resources: [{ name: "a", text: "bad" }] });
    const once = wakes();
    server.reply(PART, { version: "v1", resources: [{ name: "a", text: "bad" }] });
    expect([once, wakes()]).toEqual([1, 1]);
    server.reply(PART, { version: "v2", resources: [{ name: "a", text: "bad" }] });
    expect(wakes()).toBe(2);
  });

  it("the ACK does not wait for watchers, and nothing more is read until they have taken the update [C-ACK-12] [C-ACK-13]", async () => {
    const watchers = createSlowWatchers();
    const { ask, server } = createClientWorld(variant, { sink: watchers.sink });
    const [a] = await ask(PART, "a");
    server.rest();
    const nonce = server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect([server.next().nonce, server.raw.paused]).toEqual([nonce, true]);
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    await turn();
    expect([a?.now, server.rest()]).toEqual(["a=1", []]);
    watchers.take();
    await turn();
    expect([a?.now, server.rest().length, server.raw.paused]).toEqual(["a=2", 1, true]);
    watchers.take();
    await turn();
    expect(server.raw.paused).toBe(false);
  });

  it("watchers that fail do not hold up the stream, nor does what nobody has to take [C-ACK-13]", async () => {
    const watchers = createSlowWatchers();
    const { ask, server } = createClientWorld(variant, { sink: watchers.sink });
    await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    watchers.fail();
    await turn();
    expect(server.raw.paused).toBe(false);
    server.reply(PART, { resources: [{ name: "nobody" }] });
    server.reply(PART, { resources: [{ name: "a" }, { name: "a" }] });
    expect(server.raw.paused).toBe(false);
  });

  it("nothing else of the type is said before the answer, and changes ride on it [C-ACK-13] [C-ACK-4]", async () => {
    const late = createLateSink();
    const { ask, server } = createClientWorld(variant, { sink: late.sink });
    const [a] = await ask(PART, "a");
    server.rest();
    const nonce = server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    await ask(PART, "b");
    expect([server.rest(), server.raw.paused]).toEqual([[], true]);
    await ask(FULL, "x");
    expect(server.rest().map(({ typeUrl }) => typeUrl)).toEqual([FULL]);
    late.settle();
    await turn();
    expect(a?.now).toBe("a=1");
    expect(server.rest()).toMatchObject([
      { nonce, names: variant === "delta" ? ["b"] : ["a", "b"] },
    ]);
    expect(server.raw.paused).toBe(false);
  });

  it("what was taken in of a stream that is over is not answered on the next [B-NONCE-2]", async () => {
    const late = createLateSink();
    const { ask, server, clock } = createClientWorld(variant, { sink: late.sink });
    const [a] = await ask(PART, "a");
    server.reply(PART, { version: "v1", resources: [{ name: "a", text: "1" }] });
    server.raw.close();
    clock.advance(2_000);
    await turn();
    server.rest();
    late.settle();
    await turn();
    expect(a?.now).toBe("a=1");
    expect(server.rest()).toMatchObject([
      {
        nonce: "",
        names: ["a"],
        ...(variant === "delta" ? { versions: { a: "v1" } } : { version: "v1" }),
      },
    ]);
  });

  it("a sink that fails is a NACK, and the next response is read [C-ACK-1]", async () => {
    let broken = true;
    const { ask, server } = createClientWorld(variant, {
      sink: (given) =>
        forwardSink(given, (sink) => ({
          commit: (transaction) => {
            if (broken) throw new XdsError("INTERNAL", "the disk is full");
            return sink.commit(transaction);
          },
        })),
    });
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect([server.next().error?.message, a?.now]).toEqual(["the disk is full", "pending"]);
    broken = false;
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect([server.next().error, a?.now]).toEqual([undefined, "a=2"]);
  });

  it.each<readonly [string, (world: ClientWorld) => void]>([
    [
      "a name twice",
      ({ server }) => {
        server.reply(PART, {
          resources: [
            { name: "b", text: "2" },
            { name: "a", text: "2" },
            { name: "a", text: "2" },
          ],
        });
      },
    ],
    [
      "a name twice, in two spellings",
      ({ server }) => {
        server.reply(PART, {
          resources: [
            { name: "b", text: "2" },
            { name: "xdstp://a/test.Part/x%79" },
            { name: "xdstp://a/test.Part/xy" },
          ],
        });
      },
    ],
    [
      "bytes that go on beyond the end",
      ({ server }) => {
        server.raw.sendBytes(
          Buffer.concat([
            Buffer.from([0x22, PART.length, ...Buffer.from(PART)]),
            Buffer.from([0x2a, 1, 0x6e]),
            Buffer.from([0x12, 99, 1]),
          ]),
        );
      },
    ],
  ])("%s rejects the whole response [C-ACK-6] [C-DUP-2]", async (_, send) => {
    const world = createClientWorld(variant);
    const [a, b] = await world.ask(PART, "a", "b");
    world.server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    world.server.rest();
    send(world);
    expect(world.server.next().error?.code).toBe(3);
    expect([a?.now, b?.now]).toEqual(["a=1", "b=1"]);
  });
});

describe("ACK and NACK in SotW", () => {
  it("an ACK has version and nonce of the response and all names; a NACK has the version accepted last [C-ACK-2] [C-ACK-3]", async () => {
    const { ask, server } = createClientWorld("sotw", { types: picky });
    await ask(PART, "a", "b");
    expect(server.next()).toMatchObject({ version: "", nonce: "", names: ["a", "b"] });
    server.reply(PART, { nonce: "n1", version: "v1", resources: [{ name: "a", text: "bad" }] });
    expect(server.next()).toMatchObject({
      version: "",
      nonce: "n1",
      names: ["a", "b"],
      error: { code: 3 },
    });
    server.reply(PART, { nonce: "n2", version: "v2", resources: [{ name: "a", text: "1" }] });
    const ack = server.next();
    expect(ack).toMatchObject({ version: "v2", nonce: "n2", names: ["a", "b"] });
    expect(ack.error).toBeUndefined();
    server.reply(PART, { nonce: "n3", version: "v2", resources: [{ name: "b", text: "bad" }] });
    expect(server.next()).toMatchObject({
      version: "v2",
      nonce: "n3",
      names: ["a", "b"],
      error: { code: 3 },
    });
    server.reply(PART, { nonce: "n4", version: "v4", resources: [{ name: "b", text: "bad" }] });
    expect(server.next()).toMatchObject({ version: "v2", nonce: "n4" });
  });
});

describe("ACK and NACK in delta", () => {
  it("an ACK has type and nonce; a NACK the error too, and the map has the version that is held [C-ACK-4] [C-ACK-5]", async () => {
    const { ask, server, clock } = createClientWorld("delta", { types: picky });
    await ask(PART, "a");
    server.rest();
    server.reply(PART, { nonce: "n1", resources: [{ name: "a", version: "1", text: "1" }] });
    expect(server.next()).toEqual({
      typeUrl: PART,
      nonce: "n1",
      names: [],
      dropped: [],
      locators: [],
      version: "",
      versions: {},
    });
    server.reply(PART, { nonce: "n2", resources: [{ name: "a", version: "2", text: "bad" }] });
    expect(server.next()).toMatchObject({
      typeUrl: PART,
      nonce: "n2",
      names: [],
      error: { code: 3 },
    });
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.next().versions).toEqual({ a: "1" });
  });

  it("a name both added and removed rejects the whole response, also in two spellings [C-ACK-6] [C-DUP-2]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [a] = await ask(PART, "a", "xdstp://a/test.Part/xy");
    server.rest();
    server.reply(PART, { resources: [{ name: "a", text: "1" }], removed: ["a"] });
    server.reply(PART, {
      resources: [{ name: "a", text: "1" }, { name: "xdstp://a/test.Part/x%79" }],
      removed: ["xdstp://a/test.Part/xy"],
    });
    expect([server.rest().map(({ error }) => error?.code), a?.now]).toEqual([[3, 3], "pending"]);
  });
});
