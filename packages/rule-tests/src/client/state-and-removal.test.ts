import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { createClientWorld, turn } from "./harness/client-world.ts";
import type { Reply } from "./harness/scripted-server.ts";

const GLOB = "xdstp://a/test.Full/g/*";
const [M, N] = ["m", "n"].map((id) => GLOB.replace("*", id)) as [string, string];

describe("full state in SotW", () => {
  it("what is held and not in a response is deleted; an empty response deletes all [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [a, b] = await ask(FULL, "a", "b");
    server.reply(FULL, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    server.reply(FULL, { resources: [{ name: "a", text: "2" }] });
    expect([a?.now, b?.now]).toEqual(["a=2", "b!"]);
    server.reply(FULL, {});
    expect([a?.now, b?.now, server.rest().filter(({ error }) => error !== undefined)]).toEqual([
      "a!",
      "b!",
      [],
    ]);
  });

  it("a name asked for after the response may have left the server is not concluded to be missing [C-FULL-3]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    await ask(FULL, "*", "a");
    const [b] = await ask(FULL, "b");
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect(b?.now).toBe("pending");
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect(b?.now).toBe("pending");
    clock.advance(15_000);
    expect(b?.now).toBe("b!NOT_FOUND");
  });

  it("a name that has not come in time is missing once a full state comes without it, which is not an update to who reads it [C-FULL-3] [C-MISS-4]", async () => {
    const { ask, server, clock, feed, cache } = createClientWorld("sotw");
    const stateOfB = (): string | undefined =>
      feed.status().types[0]?.wants.find(({ interest: { name } }) => name === "b")?.state;
    const [a, b] = await ask(FULL, "a", "b");
    clock.advance(15_000);
    const before = cache.topic(FULL, { name: "b" }).head;
    expect([a?.now, b?.now, stateOfB()]).toEqual(["a!NOT_FOUND", "b!NOT_FOUND", "late"]);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect([a?.now, b?.now, stateOfB()]).toEqual(["a=1", "b!NOT_FOUND", "missing"]);
    expect(cache.topic(FULL, { name: "b" }).head).toBe(before);
    server.reply(FULL, { resources: [{ name: "b", text: "1" }] });
    expect([a?.now, b?.now, stateOfB()]).toEqual(["a!", "b=1", "cached"]);
  });

  it("of a glob asked for later it is known with the timer what is left out of it: the server has read of it by then [C-FULL-3] [C-GLOB-9]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [m, n] = await ask(FULL, M, N);
    server.reply(FULL, {
      resources: [
        { name: M, text: "1" },
        { name: N, text: "1" },
      ],
    });
    const [all] = await ask(FULL, GLOB);
    m?.stop();
    await turn();
    server.reply(FULL, { resources: [{ name: N, text: "1" }] });
    clock.advance(14_999);
    expect(all?.now).toBe(`${M}=1 ${N}=1`);
    clock.advance(1);
    expect([all?.now, n?.now]).toEqual([`${N}=1`, `${N}=1`]);
  });

  it("a full state says nothing about a glob whose request waits for a full wire [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    await ask(FULL, "a");
    server.raw.fill();
    await ask(FULL, "b");
    const [all] = await ask(FULL, GLOB);
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    expect(all?.now).toBe("pending");
    server.raw.drain();
    server.reply(FULL, { resources: [{ name: M, text: "1" }] });
    expect(all?.now).toBe(`${M}=1`);
  });

  it("of a glob asked for later a full state that comes after the one that left something out counts [C-FULL-3]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [m] = await ask(FULL, M);
    server.reply(FULL, { resources: [{ name: M, text: "1" }] });
    const [all] = await ask(FULL, GLOB);
    m?.stop();
    await turn();
    server.reply(FULL, {});
    server.reply(FULL, { resources: [{ name: M, text: "1" }] });
    clock.advance(15_000);
    expect(all?.now).toBe(`${M}=1`);
  });

  it("what was rejected of a glob asked for later, and is left out since, is nothing to speak of when its timer is over [C-FULL-3] [C-ACK-5]", async () => {
    const { ask, server, clock } = createClientWorld("sotw");
    const [m] = await ask(FULL, M);
    const [all] = await ask(FULL, GLOB);
    server.reply(FULL, { resources: [{ name: M, text: "1", payloadType: PART }] });
    m?.stop();
    await turn();
    server.reply(FULL, {});
    expect(all?.now).toMatch(/ ~INVALID_ARGUMENT$/);
    clock.advance(15_000);
    expect(all?.now).toBe(`${GLOB}!`);
  });

  it("a resource that is rejected was there, so it stays as it was [C-FULL-3] [C-ACK-5]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [all, a] = await ask(FULL, "*", "a");
    server.reply(FULL, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
        { name: "c", text: "1" },
      ],
    });
    server.reply(FULL, {
      resources: [
        { name: "a", text: "2", payloadType: PART },
        { name: "b", text: "2" },
      ],
    });
    expect([all?.now, a?.now]).toEqual(["a=1 b=2 ~INVALID_ARGUMENT", "a=1 ~INVALID_ARGUMENT"]);
    server.reply(FULL, { resources: [{ name: "b", text: "3" }] });
    expect([all?.now, a?.now]).toEqual(["b=3", "a!"]);
  });

  it("where a resource has no name that can be read, nothing is taken for absent [C-FULL-3]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [all] = await ask(FULL, "*");
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    server.reply(FULL, { resources: [{ name: "", bare: true, value: Buffer.of(10, 1, 0xff) }] });
    expect(all?.now).toContain("a=1");
  });
});

describe("other types in SotW", () => {
  it("absence means nothing, and an empty response is accepted; a resource goes with its last watcher [C-FULL-4]", async () => {
    const { ask, server, cache } = createClientWorld("sotw");
    const [a, b] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    server.rest();
    server.reply(PART, {});
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect([a?.now, b?.now, server.rest().map(({ error }) => error)]).toEqual([
      "a=2",
      "b=1",
      [undefined, undefined],
    ]);
    b?.stop();
    await turn();
    expect(cache.counters.resources).toBe(1);
  });
});

describe("wrapping in SotW", () => {
  it("wrapped and bare resources may be mixed; the wrapper has name and version [C-WRAP-1]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const [a, b, c] = await ask(PART, "a", "b", "c");
    server.rest();
    server.reply(PART, {
      resources: [
        { name: "a", version: "va", value: payloadOf("other", "1") },
        { name: "b", text: "1", bare: true },
        { name: "c", version: "", text: "1" },
      ],
    });
    expect([a?.now, b?.now, c?.now]).toEqual(["a=1", "b=1", "c=1"]);
    expect(a?.topic.get("a")?.resource?.version).toBe("va");
    expect(server.next().error).toBeUndefined();
  });

  it("the name of a bare resource is in the field that its type says; without one it is rejected [B-WRAP-4]", async () => {
    const types = [
      { typeUrl: PART, nameField: 2 },
      { typeUrl: FULL, nameField: 0 },
    ];
    const { ask, server } = createClientWorld("sotw", { types });
    const [a] = await ask(PART, "a");
    await ask(FULL, "*");
    server.rest();
    server.reply(PART, {
      resources: [
        {
          name: "a",
          bare: true,
          value: Buffer.concat([
            Buffer.of(10, 1),
            Buffer.from("z"),
            Buffer.of(18, 1),
            Buffer.from("a"),
          ]),
        },
      ],
    });
    server.reply(FULL, { resources: [{ name: "x", bare: true }] });
    expect(a?.now).toBe("a=");
    expect(server.rest().map(({ error }) => error?.message)).toEqual([
      undefined,
      expect.stringContaining("SotW needs the wrapper"),
    ]);
  });
});

describe("removal in delta", () => {
  it("a removed name goes, and stays wanted without version; an unknown one is nothing [C-REM-2]", async () => {
    const { ask, server, clock } = createClientWorld("delta");
    const [a] = await ask(PART, "a", "b");
    server.reply(PART, {
      resources: [
        { name: "a", text: "1" },
        { name: "b", text: "1" },
      ],
    });
    server.rest();
    server.reply(PART, { removed: ["a", "nobody"] });
    expect([a?.now, server.next().error]).toEqual(["a!", undefined]);
    server.raw.close();
    clock.advance(2_000);
    await turn();
    expect(server.next()).toMatchObject({ names: ["a", "b"], versions: { b: "n1" } });
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect(a?.now).toBe("a=2");
  });

  it("the removal of the last resource is an update like any other [C-REM-4]", async () => {
    const { ask, server } = createClientWorld("delta");
    const [all] = await ask(PART, "*");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    server.rest();
    const wakes = all?.wakes ?? 0;
    const nonce = server.reply(PART, { removed: ["a"] });
    expect([all?.topic.get("a"), (all?.wakes ?? 0) > wakes, server.next().nonce]).toEqual([
      undefined,
      true,
      nonce,
    ]);
  });
});

describe.each(["delta", "sotw"] as const)("missing (%s)", (variant) => {
  it.each<readonly [string, Reply]>([
    ["a Resource without body", { resources: [{ name: "a", text: null, version: "" }] }],
    ...(variant === "delta" ? [["a removal", { removed: ["a"] }] as const] : []),
  ])("%s says that there is none [C-MISS-3]", async (_, reply) => {
    const { ask, server, want } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    server.reply(PART, reply);
    expect([a?.now, want(PART, "a").state]).toEqual(["a!", "missing"]);
  });

  it("what has not come 15 s after it was asked for does not exist; the time runs only while the server is reached [C-MISS-4]", async () => {
    const { ask, server, clock, events, want } = createClientWorld(variant);
    server.raw.delay();
    const [a] = await ask(PART, "a", "b");
    clock.advance(60_000);
    expect(a?.now).toBe("pending");
    server.raw.reach();
    clock.advance(10_000);
    server.reply(PART, { resources: [{ name: "b", text: "1" }] });
    server.raw.close();
    clock.advance(1_000);
    await turn();
    expect(server.raw.streams).toBe(2);
    clock.advance(14_999);
    expect(a?.now).toBe("pending");
    clock.advance(1);
    expect([a?.now, want(PART, "a").state, want(PART, "b").state]).toEqual([
      "a!NOT_FOUND",
      "late",
      "cached",
    ]);
    expect(events.filter(({ kind }) => kind === "timeout")).toMatchObject([{ typeUrl: PART }]);
  });

  it("what was asked for while the stream was opened has 15 s from when the server is reached [C-MISS-4]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    server.raw.delay();
    const [a] = await ask(PART, "a");
    clock.advance(60_000);
    server.raw.reach();
    clock.advance(14_999);
    expect(a?.now).toBe("pending");
    clock.advance(1);
    expect(a?.now).toBe("a!NOT_FOUND");
  });

  it("no time runs for what waits for a full wire [C-MISS-4]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    await ask(FULL, "x");
    server.raw.fill();
    await ask(FULL, "y");
    const [a] = await ask(PART, "a");
    clock.advance(20_000);
    expect(a?.now).toBe("pending");
    server.raw.drain();
    clock.advance(14_999);
    expect(a?.now).toBe("pending");
    clock.advance(1);
    expect(a?.now).toBe("a!NOT_FOUND");
  });

  it("0 is for ever [C-MISS-4]", async () => {
    const { ask, clock } = createClientWorld(variant, { client: { fetchMs: 0 } });
    const [a] = await ask(PART, "a");
    clock.advance(86_400_000);
    expect(a?.now).toBe("pending");
  });

  it("what was taken for missing may come, and is an update [C-MISS-5]", async () => {
    const { ask, server, clock, want } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    clock.advance(15_000);
    const wakes = a?.wakes ?? 0;
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect([a?.now, (a?.wakes ?? 0) - wakes, want(PART, "a").state]).toEqual(["a=1", 1, "cached"]);
  });

  it("a server with resource_timer_is_transient_error has 30 s, and then the name is away for now [C-GRPC-10]", async () => {
    const { ask, clock, want, server } = createClientWorld(variant, {
      client: { timeoutIsTransient: true },
    });
    const [a] = await ask(PART, "a");
    clock.advance(29_999);
    expect(a?.now).toBe("pending");
    clock.advance(1);
    expect([a?.now, want(PART, "a").state]).toEqual(["pending ~UNAVAILABLE", "late"]);
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect([a?.now, want(PART, "a").state]).toEqual(["a=1", "cached"]);
  });

  it("and a collection of which nothing has come is away for now too, instead of empty [C-GRPC-10] [C-GLOB-9]", async () => {
    const { ask, clock, server } = createClientWorld(variant, {
      client: { timeoutIsTransient: true },
    });
    const [all] = await ask(FULL, "*");
    clock.advance(30_000);
    expect(all?.now).toBe("pending ~UNAVAILABLE");
    server.reply(FULL, { resources: [{ name: "a", text: "1" }] });
    clock.advance(200);
    expect(all?.now).toBe("a=1");
  });

  it("an empty response answers a wildcard that was requested after a name, which stays pending [S-WILD-7] [C-GRPC-10]", async () => {
    const { ask, clock, server } = createClientWorld(variant, {
      client: { timeoutIsTransient: true },
    });
    const [a] = await ask(PART, "a");
    server.rest();
    const [all] = await ask(PART, "*");
    server.reply(PART, {});
    clock.advance(200);
    expect([a?.now, all?.now]).toEqual(["pending", ""]);
    clock.advance(30_000);
    expect([a?.now, all?.now]).toEqual(["pending ~UNAVAILABLE", ""]);
  });
});
