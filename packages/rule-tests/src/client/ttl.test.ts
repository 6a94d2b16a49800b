import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";

describe.each(["delta", "sotw"] as const)("TTL (%s)", (variant) => {
  it("a body-less resource with the version that is held starts the time anew, and is not an update [C-TTL-3] [C-TTL-4]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", version: "1", text: "1", ttlMs: 3_000 }] });
    const wakes = a?.wakes;
    for (let n = 0; n < 10; n++) {
      clock.advance(1_000);
      server.reply(PART, { resources: [{ name: "a", version: "1", text: null, ttlMs: 3_000 }] });
    }
    expect([a?.now, a?.wakes, server.rest().filter(({ error }) => error !== undefined)]).toEqual([
      "a=1",
      wakes,
      [],
    ]);
    clock.advance(3_000);
    expect(a?.now).toBe("a!");
  });

  it("a body-less one with a ttl and another version: the client has lost track, and subscribes again [C-TTL-3]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a, b] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", version: "1", text: "1", ttlMs: 1_000 },
        { name: "b", text: "1" },
      ],
    });
    clock.advance(1_000);
    expect(a?.now).toBe("a!");
    server.rest();
    const nonce = server.reply(PART, {
      resources: [{ name: "a", version: "1", text: null, ttlMs: 1_000 }],
    });
    await turn();
    const asked = server.rest();
    expect(asked[0]).toMatchObject({ nonce });
    expect(asked.every(({ error }) => error === undefined)).toBe(true);
    if (variant === "delta") expect(asked.flatMap(({ names }) => names)).toEqual(["a"]);
    else expect(asked.map(({ names }) => names)).toEqual([["b"], ["a", "b"]]);
    server.reply(PART, { resources: [{ name: "a", version: "1", text: "1", ttlMs: 1_000 }] });
    expect([a?.now, b?.now]).toEqual(["a=1", "b=1"]);
  });

  it("a body-less one with neither: it does not exist [C-TTL-3] [C-MISS-3]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, { resources: [{ name: "a", version: "1", text: "1" }] });
    server.reply(PART, { resources: [{ name: "a", version: "2", text: null }] });
    expect(a?.now).toBe("a!");
  });

  it("each resource starts its time, one without a ttl ends it; what expires is gone, still wanted, and out of the version map [C-TTL-4]", async () => {
    const { ask, server, clock, want } = createClientWorld(variant);
    const [a, b] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", text: "1", ttlMs: 1_000 },
        { name: "b", text: "1", ttlMs: 1_500 },
      ],
    });
    clock.advance(900);
    server.reply(PART, { resources: [{ name: "a", text: "2", ttlMs: 1_000 }] });
    clock.advance(900);
    expect([a?.now, b?.now, want(PART, "b").state]).toEqual(["a=2", "b!", "missing"]);
    server.reply(PART, { resources: [{ name: "a", text: "3" }] });
    clock.advance(60_000);
    expect(a?.now).toBe("a=3");
    server.raw.close();
    server.rest();
    clock.advance(1_000);
    await turn();
    const asked = server.next();
    expect(asked.names).toEqual(["a", "b"]);
    if (variant === "delta") expect(asked.versions).toEqual({ a: "n3" });
  });

  it("the time runs on while the server is away [C-TTL-6]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a, b] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", text: "1", ttlMs: 5_000 },
        { name: "b", text: "1" },
      ],
    });
    server.raw.close();
    clock.advance(4_999);
    expect(a?.now).toMatch(/^a=1/);
    clock.advance(1);
    expect([a?.now, b?.now]).toEqual([expect.stringMatching(/^a!/), expect.stringMatching(/^b=1/)]);
  });
});

describe("TTL of full state in SotW", () => {
  it("what may have expired is asked for in full: the version of a wildcard would stand for it [C-TTL-6] [C-VER-6]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    await ask(FULL, "*");
    server.reply(FULL, { version: "v1", resources: [{ name: "a", ttlMs: 500 }, { name: "b" }] });
    server.rest();
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.next()).toMatchObject({ names: [], version: "", nonce: "" });
  });

  it("a heartbeat counts as present [C-TTL-9]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [all, a, b] = await ask(FULL, "*", "a", "b");
    server.reply(FULL, {
      resources: [
        { name: "a", version: "1", text: "1", ttlMs: 3_000 },
        { name: "b", version: "1", text: "1" },
      ],
    });
    for (let n = 0; n < 10; n++) {
      clock.advance(1_000);
      server.reply(FULL, {
        resources: [
          { name: "a", version: "1", text: null, ttlMs: 3_000 },
          { name: "b", version: "1", text: "1" },
        ],
      });
    }
    expect([all?.now, a?.now, b?.now]).toEqual(["a=1 b=1", "a=1", "b=1"]);
    server.reply(FULL, { resources: [{ name: "a", version: "1", text: null, ttlMs: 3_000 }] });
    expect([all?.now, a?.now, b?.now]).toEqual(["a=1", "a=1", "b!"]);
  });
});
