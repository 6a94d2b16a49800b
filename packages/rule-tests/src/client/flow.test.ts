import type { ByteStreamHandler } from "@xdstp/core";
import { type Connect, createClientContext } from "@xdstp/protocol/client";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, node, turn } from "./harness/client-world.ts";
import { createScriptedServer } from "./harness/scripted-server.ts";

const nowhere = { commit: () => ({ revision: 1 }), held: () => [], unavailable: () => undefined };

describe.each(["delta", "sotw"] as const)("the flow of a client end (%s)", (variant) => {
  const create = variant === "delta" ? createDeltaClient : createSotwClient;

  it("what is wanted before it runs is asked for when it runs", async () => {
    const server = createScriptedServer(variant);
    const feed = create(createClientContext({ connect: server.raw.connect, node }));
    feed.want(PART, [{ name: "a" }, { name: "b" }], []);
    feed.want(PART, [{ name: "c" }], [{ name: "b" }]);
    expect(server.raw.streams).toBe(0);
    const abort = new AbortController();
    const run = feed.run(nowhere, abort.signal);
    await turn();
    expect(server.rest().map(({ names }) => names)).toEqual([["a", "c"]]);
    abort.abort();
    await run;
  });

  it("an abort ends it at once: the stream is closed, no timer is left, and nothing is put any more", async () => {
    const { ask, cache, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    const end = cache.close();
    expect([server.raw.closed?.code, clock.pending]).toEqual([1, 0]);
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    await end;
    expect(a?.now).toBe("pending");
  });

  it("an abort before it runs, while it waits to reconnect, or inside connect ends it too", async () => {
    const abort = new AbortController();
    let closed = 0;
    const connect: Connect = () => {
      abort.abort();
      return {
        send: () => true,
        close: () => {
          closed++;
        },
      };
    };
    const inside = create(createClientContext({ connect, node }));
    inside.want(PART, [{ name: "a" }], []);
    await inside.run(nowhere, abort.signal);
    expect([closed, inside.status().connected]).toEqual([1, false]);
    const before = create(
      createClientContext({
        connect: () => {
          throw new Error("it is not opened");
        },
        node,
      }),
    );
    before.want(PART, [{ name: "a" }], []);
    await before.run(nowhere, AbortSignal.abort());
    const { ask, end, server, clock } = createClientWorld(variant);
    await ask(PART, "a");
    server.raw.close();
    await end();
    expect(clock.pending).toBe(0);
  });

  it("a server that answers inside connect, before anything was asked, is not listened to", async () => {
    const server = createScriptedServer(variant);
    const connect = (handler: ByteStreamHandler): ReturnType<Connect> => {
      const out = server.raw.connect(handler);
      server.reply(PART, { resources: [{ name: "a" }] });
      return out;
    };
    const feed = create(createClientContext({ connect, node }));
    feed.want(PART, [{ name: "a" }], []);
    const abort = new AbortController();
    const run = feed.run(nowhere, abort.signal);
    await turn();
    expect([feed.status().counts.ignored, server.rest().length]).toEqual([1, 1]);
    abort.abort();
    await run;
  });

  it("a full wire holds requests back; what is said then is what is wanted then", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(FULL, "x");
    server.raw.fill();
    await ask(FULL, "y");
    const [a] = await ask(PART, "a");
    a?.stop();
    await ask(PART, "b");
    expect(server.rest().map(({ typeUrl }) => typeUrl)).toEqual([FULL, FULL]);
    server.raw.drain();
    expect(server.rest().map(({ typeUrl, names }) => [typeUrl, names])).toEqual([[PART, ["b"]]]);
  });

  it("a name that is dropped, subscribed again and dropped behind a full wire is unsubscribed [C-DSUB-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [first] = await ask(PART, "a", "b");
    server.raw.fill();
    await ask(FULL, "x");
    first?.stop();
    await turn();
    const [second] = await ask(PART, "a");
    second?.stop();
    await turn();
    server.rest();
    server.raw.drain();
    expect(server.rest().map(({ names, dropped }) => [names, dropped])).toEqual([
      variant === "delta" ? [[], ["a"]] : [["b"], []],
    ]);
  });

  it("no more requests than its rate allows; what waits is merged [S-LIM-2]", async () => {
    const { ask, server, clock } = createClientWorld(variant, {
      client: { rate: { burst: 2, perSecond: 1 } },
    });
    for (const name of ["a", "b", "c", "d"]) await ask(PART, name);
    expect(server.rest()).toHaveLength(2);
    clock.advance(999);
    expect(server.rest()).toHaveLength(0);
    clock.advance(1);
    expect(server.rest().map(({ names }) => names)).toEqual([
      variant === "delta" ? ["c", "d"] : ["a", "b", "c", "d"],
    ]);
    clock.advance(10_000);
    expect(server.rest()).toEqual([]);
  });

  it("ten thousand messages that are handed over at once are taken one after another", async () => {
    const server = createScriptedServer(variant);
    let handler: ByteStreamHandler | undefined;
    let answers = 0;
    const connect: Connect = (given) => {
      handler = given;
      return { ...server.raw.connect(given), send: () => (answers++, true) };
    };
    const flooded = create(createClientContext({ connect, node }));
    const { promise: slow, resolve: release }: PromiseWithResolvers<void> = Promise.withResolvers();
    let commits = 0;
    const sink = {
      commit: () => (++commits === 1 ? { revision: 1, taken: slow } : { revision: commits }),
      held: () => [],
      unavailable: () => undefined,
    };
    flooded.want(PART, [{ name: "a" }], []);
    const abort = new AbortController();
    const run = flooded.run(sink, abort.signal);
    await turn();
    const resource = Buffer.concat([
      Buffer.of(0x0a, PART.length),
      Buffer.from(PART),
      Buffer.from("\x12\x03\x0a\x01a"),
    ]);
    const message = Buffer.concat([
      Buffer.of(0x22, PART.length),
      Buffer.from(PART),
      Buffer.from("\x2a\x01n"),
      variant === "delta"
        ? Buffer.from("\x32\x01a")
        : Buffer.concat([Buffer.of(0x12, resource.length), resource]),
    ]);
    for (let n = 0; n < 10_000; n++) handler?.onMessage(message);
    expect(commits).toBe(1);
    release();
    await turn();
    expect([answers, flooded.status().counts.responses]).toEqual([10_001, 10_000]);
    abort.abort();
    await run;
  });
});
