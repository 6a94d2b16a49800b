import { describe, expect, it } from "vitest";
import { createClientWorld, turn } from "../client/harness/client-world.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";

/** Servers that do what no server should, one test each. Bytes that are not a message are in src/client/untrusted-server.test.ts, connections in packages/grpc/src/client/known-vulnerabilities.test.ts. */
const ns = (id: string): string => `xdstp://a/test.Part/ns/${id}`;

describe.each(["delta", "sotw"] as const)("odd servers (%s)", (variant) => {
  it("send what nobody asked for, of every kind: it is counted, answered and not kept [C-SUB-8] [C-TYPE-7]", async () => {
    const { ask, server, cache, feed } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, { resources: [{ name: "a", text: "1" }, { name: "b" }, { name: ns("x") }] });
    server.reply(PART, { removed: ["c", ns("*"), "*"], errors: [["d", 5]] });
    server.reply(OTHER_PART, { resources: [{ name: "a" }] });
    expect(server.rest()).toHaveLength(2);
    expect([a?.now, cache.topic(PART, { name: "b" }).members()]).toEqual(["a=1", []]);
    expect(feed.status().counts.ignored).toBeGreaterThanOrEqual(4);
  });

  it("send a name twice: nothing of the response is taken [C-DUP-2] [C-ACK-6]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a, b] = await ask(PART, "a", "b");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "a", text: "2" },
        { name: "b", text: "1" },
      ],
    });
    expect([a?.now, b?.now, server.next().error?.code]).toEqual(["pending", "pending", 3]);
  });

  it("send a payload of another type: it is rejected by name [C-TYPE-4] [C-ACK-5]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a, b] = await ask(PART, "a", "b");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", payloadType: FULL },
        { name: "b", text: "1" },
      ],
    });
    expect([a?.now, b?.now, server.next().error?.message]).toEqual([
      expect.stringContaining("INVALID_ARGUMENT"),
      "b=1",
      expect.stringContaining('"a"'),
    ]);
  });

  it("send an empty response right after their start: it is taken at its word, and so is what comes next [C-FULL-3] [C-FULL-4] [C-REM-4]", async () => {
    const world = createClientWorld(variant);
    const [all, part] = [...(await world.ask(FULL, "*")), ...(await world.ask(PART, "a"))];
    world.server.reply(FULL, { resources: [{ name: "a", version: "1", text: "1" }] });
    world.server.reply(PART, { resources: [{ name: "a", version: "1", text: "1" }] });
    world.server.raw.close();
    world.clock.advance(1_000);
    await turn();
    for (const typeUrl of [FULL, PART]) world.server.reply(typeUrl, {});
    // Delta has to say what goes.
    expect([all?.topic.members().length, part?.now]).toEqual([variant === "delta" ? 1 : 0, "a=1"]);
    world.server.reply(FULL, { resources: [{ name: "a", version: "1", text: "1" }] });
    expect(all?.topic.members().length).toBe(1);
  });

  it("give no nonce, or one nonce again and again: each response is answered with the one that it has [C-ACK-1] [C-LIM-7]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    for (const [nonce, text] of [
      ["", "1"],
      ["same", "2"],
      ["same", "3"],
      ["", "4"],
    ] as const) {
      server.reply(PART, { nonce, version: text, resources: [{ name: "a", text }] });
      expect([server.next().nonce, a?.now]).toEqual([nonce, `a=${text}`]);
    }
    expect(server.rest()).toEqual([]);
  });

  it("send other content under the same version: the newest content counts [C-VER-6]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    for (const text of ["1", "2"])
      server.reply(PART, { version: "v", resources: [{ name: "a", version: "v", text }] });
    expect(a?.now).toBe("a=2");
  });

  it("go on with a type that nobody wants any more: it is answered and not kept [C-TYPE-7]", async () => {
    const { ask, server, cache } = createClientWorld(variant);
    const [a] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    a?.stop();
    await turn();
    server.rest();
    const nonce = server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect(server.rest()).toMatchObject([{ nonce }]);
    expect(cache.topic(PART, { name: "a" }).members()).toEqual([]);
  });

  it("send heartbeats for what is not held and removals of what is not known: nothing changes, and what was lost is asked for again [C-TTL-3] [C-REM-2]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", version: "9", text: null, ttlMs: 1_000 },
        { name: "who", version: "9", text: null, ttlMs: 1_000 },
      ],
    });
    server.reply(PART, { removed: ["nobody", "nothing"] });
    await turn();
    const asked = server.rest();
    expect(asked.every(({ error }) => error === undefined)).toBe(true);
    expect(asked.flatMap(({ names }) => names)).toContain("a");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect(a?.now).toBe("a=1");
  });

  it("never stop: 20,000 responses are taken one by one, each is answered, and others are asked in between [C-ACK-1] [C-LIM-7]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.rest();
    const pending = clock.pending;
    for (let n = 0; n < 20_000; n++) {
      server.reply(PART, { resources: [{ name: "a", text: String(n) }] });
      if (n === 10_000) await ask(FULL, "x");
      if (n % 1_000 === 0) server.rest();
    }
    expect(a?.now).toBe("a=19999");
    expect(clock.pending - pending).toBeLessThanOrEqual(2);
  });

  it("accept every stream and end it at once: the client waits longer each time [C-RECON-1]", async () => {
    const { ask, server, clock, events } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    for (let minute = 0; minute < 60; minute++) {
      if (server.raw.connected) server.raw.close({ code: 0, message: "" });
      clock.advance(60_000);
      await turn();
    }
    expect(events.filter(({ kind }) => kind === "closed").length).toBeLessThan(50);
    expect(a?.now).toBe("pending ~UNAVAILABLE");
  });

  it("answer once and end the stream, for ever: the first wait is kept, never less [C-RECON-1]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    await ask(PART, "a");
    for (let second = 0; second < 100; second++) {
      if (server.raw.connected) {
        server.reply(PART, { resources: [{ name: "a", text: String(second) }] });
        server.raw.close();
      }
      clock.advance(500);
      await turn();
    }
    expect(server.raw.streams).toBeLessThanOrEqual(51);
  });
});
