import type { Connect } from "@xdstp/protocol/client";
import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn, type ClientWorld } from "./harness/client-world.ts";

const ns = (id: string): string => `xdstp://a/test.Part/ns/${id}`;

/** Milliseconds until the next stream is opened. */
async function waitOf({ server, clock }: ClientWorld): Promise<number> {
  const { streams } = server.raw;
  for (let ms = 0; ms < 500_000; ms += 100) {
    if (server.raw.streams > streams) return ms;
    clock.advance(100);
  }
  await turn();
  return Infinity;
}

describe.each(["delta", "sotw"] as const)("reconnecting (%s)", (variant) => {
  it("each wait is longer than the one before, up to a limit; a response resets it, an open stream does not [C-RECON-1]", async () => {
    const world = createClientWorld(variant);
    await world.ask(PART, "a");
    const waits: number[] = [];
    for (let n = 0; n < 13; n++) {
      world.server.raw.close();
      waits.push(await waitOf(world));
    }
    expect(waits.slice(0, 4)).toEqual([1_000, 1_600, 2_600, 4_100]);
    expect(waits.slice(-2)).toEqual([120_000, 120_000]);
    await turn();
    world.server.reply(PART, { resources: [{ name: "a" }] });
    world.server.raw.close();
    expect(await waitOf(world)).toBe(1_000);
    await world.end();
  });

  it("the wait has jitter [C-RECON-1]", async () => {
    const waits = await Promise.all(
      [0, 0.999_999].map(async (random) => {
        const world = createClientWorld(variant, { client: { random: () => random } });
        await world.ask(PART, "a");
        world.server.raw.close();
        return waitOf(world);
      }),
    );
    expect(waits).toEqual([800, 1_200]);
  });

  it("a server that ends the call at once, while it is opened, is tried again in the same way [C-RECON-1]", async () => {
    let calls = 0;
    const connect: Connect = (handler) => {
      calls++;
      handler.onClosed({ code: 14, message: "rejected" });
      return { send: () => true, close: () => undefined };
    };
    const rejected = createClientWorld(variant, { client: { connect } });
    const [a] = await rejected.ask(PART, "a");
    expect([calls, a?.now]).toEqual([1, "pending ~UNAVAILABLE"]);
    rejected.clock.advance(999);
    expect(calls).toBe(1);
    rejected.clock.advance(1 + 1_600);
    expect(calls).toBe(3);
    await rejected.end();
    rejected.clock.advance(600_000);
    expect(calls).toBe(3);
  });

  it("what was accepted stays in use while the server is away [C-RECON-8]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    server.raw.close();
    for (let n = 0; n < 60; n++) {
      clock.advance(60_000);
      if (server.raw.connected) server.raw.close();
    }
    expect(a?.now).toBe("a=1 ~UNAVAILABLE");
  });
});

describe("reconnecting in SotW", () => {
  it("the first request of each type has all names, the version accepted last, and no nonce [C-RECON-2]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    await ask(PART, "a", "b");
    await ask(FULL, "x");
    server.reply(PART, { version: "p1", resources: [{ name: "a" }] });
    server.reply(FULL, { version: "f1", resources: [{ name: "x" }] });
    server.rest();
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.rest()).toMatchObject([
      { typeUrl: PART, names: ["a", "b"], version: "p1", nonce: "" },
      { typeUrl: FULL, names: ["x"], version: "f1", nonce: "" },
    ]);
  });

  it.each([
    [true, ""],
    [false, "p1"],
  ])(
    "where a server is silent to its version (%s), the version is %j after a name was left and subscribed to again [C-VER-6] [C-REST-6]",
    async (isSilentIfCurrent, version) => {
      const { ask, server, clock } = createClientWorld("sotw", { client: { isSilentIfCurrent } });
      const [a] = await ask(PART, "a");
      server.reply(PART, { version: "p1", resources: [{ name: "a" }] });
      server.raw.close();
      a?.stop();
      await turn();
      await ask(PART, "a");
      server.rest();
      clock.advance(5_000);
      await turn();
      expect(server.rest()).toMatchObject([{ typeUrl: PART, names: ["a"], version }]);
    },
  );

  it("the version is empty with a collection after a rejected response of which a part was taken, until the next that is accepted [C-VER-6]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [x, y] = await ask(FULL, "x", "y", "*");
    const send = (version: string, payloadType: string): void => {
      server.reply(FULL, {
        version,
        resources: [
          { name: "x", text: version },
          { name: "y", text: version, payloadType },
        ],
      });
    };
    const versionOnNewStream = async (): Promise<string | undefined> => {
      server.rest();
      server.raw.close();
      clock.advance(5_000);
      await turn();
      return server.rest()[0]?.version;
    };
    send("1", FULL);
    send("2", PART);
    expect([x?.now, y?.now]).toEqual(["x=2", "y=1 ~INVALID_ARGUMENT"]);
    // A server that is back at version 1 would take it for what the client has.
    expect(await versionOnNewStream()).toBe("");
    send("1", FULL);
    expect([x?.now, y?.now]).toEqual(["x=1", "y=1"]);
    expect(await versionOnNewStream()).toBe("1");
  });
});

describe("reconnecting in delta", () => {
  it("the first request of a type has all that is held with its version, members too, and no later one has [C-RECON-3] [C-GLOB-7]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    await ask(PART, "a", "gone", "never", ns("*"));
    await ask(FULL, "*");
    server.reply(PART, {
      resources: [
        { name: "a", version: "1" },
        { name: "gone", version: "1" },
        { name: ns("x"), version: "7" },
      ],
    });
    server.reply(FULL, { resources: [{ name: "x", version: "9" }] });
    server.reply(PART, { removed: ["gone"] });
    await ask(PART, "late");
    expect(server.rest().filter(({ versions }) => Object.keys(versions).length > 0)).toEqual([]);
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.rest().map(({ typeUrl, versions }) => [typeUrl, versions])).toEqual([
      [PART, { a: "1", [ns("x")]: "7" }],
      [FULL, { x: "9" }],
    ]);
    await ask(PART, "later");
    expect(server.rest()).toMatchObject([{ names: ["later"], versions: {} }]);
  });

  it("what was rejected and is not sent again is as the map says: the error is over once the server is silent [C-RECON-3] [C-ACK-5]", async () => {
    const { ask, server, clock, want } = createClientWorld("delta");
    const [a, glob] = await ask(PART, "a", ns("*"));
    const send = (version: string, payloadType = PART): void => {
      server.reply(PART, {
        version,
        resources: ["a", ns("x")].map((name) => ({ name, version, text: version, payloadType })),
      });
    };
    send("1");
    send("2", FULL);
    expect([a?.now, glob?.now]).toEqual([
      "a=1 ~INVALID_ARGUMENT",
      expect.stringContaining("~INVALID_ARGUMENT"),
    ]);
    server.raw.close();
    clock.advance(1_000);
    await turn();
    server.reply(PART, {});
    clock.advance(14_999);
    expect(a?.now).toBe("a=1 ~INVALID_ARGUMENT");
    clock.advance(1);
    expect([a?.now, glob?.now, want(PART, "a").rejected, want(PART, ns("*")).rejected]).toEqual([
      "a=1",
      `${ns("x")}=1`,
      [],
      [],
    ]);
  });

  it("a server that is back and silent, since all that is held is still right, is not missed any more once its time is up [C-RECON-3] [C-GRPC-4]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", version: "1", text: "1" }] });
    for (const wait of [1_000, 1_600]) {
      server.raw.close();
      clock.advance(wait);
      await turn();
    }
    clock.advance(14_999);
    expect(a?.now).toBe("a=1 ~UNAVAILABLE");
    clock.advance(1);
    expect(a?.now).toBe("a=1");
  });

  it("a server never gets what another one gave [C-RECON-3]", async () => {
    const one = createClientWorld("delta");
    const other = createClientWorld("delta", { runs: false });
    one.cache.addFeed(other.feed);
    await one.ask(PART, "a");
    one.server.reply(PART, { resources: [{ name: "a", version: "1" }] });
    const first = other.server.rest();
    other.server.raw.close();
    other.clock.advance(1_000);
    await turn();
    expect(
      [...first, ...other.server.rest()].map(({ names, versions }) => [names, versions]),
    ).toEqual([
      [["a"], {}],
      [["a"], {}],
    ]);
  });

  it("what was removed while disconnected goes [C-GLOB-7] [C-RECON-3]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [glob] = await ask(PART, ns("*"));
    server.reply(PART, {
      resources: [
        { name: ns("x"), text: "1" },
        { name: ns("y"), text: "1" },
      ],
    });
    server.raw.close();
    clock.advance(1_000);
    await turn();
    server.reply(PART, { removed: [ns("x")] });
    expect(glob?.topic.members().map(({ name }) => name)).toEqual([ns("y")]);
  });
});
