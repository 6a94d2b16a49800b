import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createClientWorld, turn, type ClientWorld } from "../client/harness/client-world.ts";
import { FULL, madeUpTypes, PART } from "../harness/made-up-types.ts";

/**
 * One test for each row of "Known failures: protocol and engine" in docs/reference/operators-and-security.md that concerns a client; titles name the row.
 * Elsewhere: grpc-go #8594 (packages/client, known-failures). Of servers alone: go-control-plane #63, #526, #546; envoy #13009 and #32823.
 */
const picky = madeUpTypes.map((type) => ({
  ...type,
  validate: ({ payload }: { payload: { value: Uint8Array } }) =>
    Buffer.from(payload.value).includes("bad")
      ? new XdsError("INVALID_ARGUMENT", "bad")
      : undefined,
}));

async function reconnect({ server, clock }: ClientWorld): Promise<void> {
  server.raw.close();
  clock.advance(2_000);
  await turn();
}

describe.each(["delta", "sotw"] as const)("known failures, seen from a client (%s)", (variant) => {
  it("go-control-plane #46 #962, istio #21111, contour #1176, grpc #25335, xds-relay #165: a server that answers each NACK is not answered without end [C-ACK-20]", async () => {
    const { ask, server, clock } = createClientWorld(variant, { types: picky });
    const [a] = await ask(PART, "a");
    server.rest();
    let nacks = 0;
    for (let second = 0; second < 60; second++) {
      server.reply(PART, { version: "1", resources: [{ name: "a", text: "bad" }] });
      for (let asked = server.rest(); asked.length > 0 && nacks < 1_000; asked = server.rest()) {
        nacks += asked.length;
        server.reply(PART, { version: "1", resources: [{ name: "a", text: "bad" }] });
      }
      clock.advance(1_000);
    }
    expect(nacks).toBeLessThan(200);
    server.reply(PART, { version: "2", resources: [{ name: "a", text: "good" }] });
    expect(a?.now).toBe("a=good");
  });

  it("xds-relay #124, go-control-plane #1319: neither an empty response nor one without the name makes a loop: one answer each [C-ACK-1]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "absent", "a");
    await ask(FULL, "*");
    server.rest();
    for (let round = 0; round < 100; round++) {
      server.reply(PART, {
        resources: round % 2 === 0 ? [] : [{ name: "a", text: String(round) }],
      });
      server.reply(FULL, {});
      await turn();
      expect(server.rest()).toHaveLength(2);
    }
  });

  it("go-control-plane #503 #854 #875, consul #9689, istio #39209: a server that does not read is still read from, and what it is owed is bounded [C-LIM-7]", async () => {
    const { ask, server } = createClientWorld(variant, {
      client: { limits: { waitingAnswers: 10 } },
    });
    const [a] = await ask(PART, "a");
    server.rest();
    server.raw.fill();
    for (let round = 0; round < 1_000; round++)
      server.reply(PART, { resources: [{ name: "a", text: String(round) }] });
    expect(a?.now).toBe("a=999");
    server.raw.drain();
    expect(server.rest().length).toBeLessThanOrEqual(12);
  });

  it("go-control-plane #570 #597 #913, istio #10822 #51838, grpc-node #2892: nothing is left of 1,000 streams, nor of what nobody wants any more [C-DSUB-8]", async () => {
    const world = createClientWorld(variant);
    const [a] = await world.ask(PART, "a");
    const pending = world.clock.pending;
    for (let n = 0; n < 1_000; n++) {
      world.server.reply(PART, { resources: [{ name: "a", text: String(n), ttlMs: 60_000 }] });
      await reconnect(world);
      world.server.rest();
    }
    expect(world.status(PART).wants).toHaveLength(1);
    expect(world.clock.pending).toBeLessThanOrEqual(pending + 2);
    a?.stop();
    await world.end();
    expect(world.clock.pending).toBe(0);
  });

  it("go-control-plane #1356, kgateway #14688 #14703: a server that is silent to who comes back up to date takes nothing away, and its next word is taken [C-RECON-8]", async () => {
    const world = createClientWorld(variant);
    const [a] = await world.ask(PART, "a");
    world.server.reply(PART, { version: "1", resources: [{ name: "a", text: "1" }] });
    await reconnect(world);
    world.clock.advance(600_000);
    expect(a?.now).toBe("a=1");
    world.server.reply(PART, { version: "2", resources: [{ name: "a", text: "2" }] });
    expect(a?.now).toBe("a=2");
  });

  it("go-control-plane #431 #583 #1300: what is dropped and wanted again is asked for again, and taken though its version is the same [C-DSUB-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a", "b");
    server.reply(PART, { version: "1", resources: [{ name: "a", text: "1" }] });
    a?.stop();
    await turn();
    server.rest();
    const [again] = await ask(PART, "a");
    expect(server.rest().at(-1)?.names).toEqual(variant === "delta" ? ["a"] : ["b", "a"]);
    server.reply(PART, { version: "1", resources: [{ name: "a", text: "1" }] });
    expect(again?.now).toBe("a=1");
  });

  it("go-control-plane #463 #615: a name that is wanted while a response is on its way is in the answer or right behind it, and the response does not undo it [C-NONCE-3]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "a");
    server.rest();
    const [b] = await ask(PART, "b");
    const nonce = server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    const asked = server.rest();
    expect(variant === "delta" ? asked.flatMap(({ names }) => names) : asked.at(-1)).toEqual(
      variant === "delta" ? ["b"] : expect.objectContaining({ nonce, names: ["a", "b"] }),
    );
    server.reply(PART, { resources: [{ name: "b", text: "1" }] });
    expect(b?.now).toBe("b=1");
  });

  it("go-control-plane #488 #565: what does not exist stays asked for, and is taken when it comes [C-MISS-5] [C-REM-2]", async () => {
    const { ask, server, clock } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    if (variant === "delta") server.reply(PART, { removed: ["a"] });
    else clock.advance(15_000);
    expect(a?.now).toBe(variant === "delta" ? "a!" : "a!NOT_FOUND");
    server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    expect(a?.now).toBe("a=1");
  });

  it("envoy #10363, envoy #16659: names under a nonce that the server takes for stale are said again with the next answer [C-NONCE-3] [C-ACK-2]", async () => {
    const { ask, server } = createClientWorld(variant);
    await ask(PART, "a");
    server.reply(PART, { nonce: "n1", resources: [{ name: "a" }] });
    await ask(PART, "b");
    server.rest();
    server.reply(PART, { nonce: "n2", resources: [{ name: "a" }] });
    expect(server.rest()).toMatchObject([
      { nonce: "n2", names: variant === "delta" ? [] : ["a", "b"] },
    ]);
  });

  it("envoy #22418, istio #41494: what a server does not speak of after a reconnect stays, what it removes goes [C-RECON-3]", async () => {
    const world = createClientWorld(variant);
    const [kept, gone] = await world.ask(FULL, "kept", "gone");
    const both = ["kept", "gone"].map((name) => ({ name, version: "1", text: "1" }));
    world.server.reply(FULL, { resources: both });
    await reconnect(world);
    world.server.reply(
      FULL,
      variant === "delta" ? { removed: ["gone"] } : { resources: both.slice(0, 1) },
    );
    world.clock.advance(60_000);
    expect([kept?.now, gone?.now]).toEqual([
      "kept=1",
      variant === "delta" ? "gone!" : "gone!NOT_FOUND",
    ]);
  });

  it("contour #6250, go-control-plane #341: a server whose versions begin anew is taken at its word: versions are not compared [C-VER-6]", async () => {
    const world = createClientWorld(variant);
    const [a] = await world.ask(PART, "a");
    for (const version of ["1", "2", "3"])
      world.server.reply(PART, { version, resources: [{ name: "a", text: version }] });
    await reconnect(world);
    world.server.reply(PART, { version: "1", resources: [{ name: "a", text: "other" }] });
    expect(a?.now).toBe("a=other");
    world.server.reply(PART, { version: "1", resources: [{ name: "a", text: "third" }] });
    expect(a?.now).toBe("a=third");
  });

  it("java-control-plane #70, grpc-java #11796: who drops everything and wants it again asks with the newest nonce, and is served [C-NONCE-4]", async () => {
    const { ask, server } = createClientWorld(variant);
    const [a] = await ask(PART, "a");
    const nonce = server.reply(PART, { resources: [{ name: "a", text: "1" }] });
    a?.stop();
    await turn();
    server.rest();
    const [again] = await ask(PART, "a");
    expect(server.rest()).toMatchObject([
      { names: ["a"], nonce: variant === "delta" ? "" : nonce },
    ]);
    server.reply(PART, { resources: [{ name: "a", text: "2" }] });
    expect(again?.now).toBe("a=2");
  });

  it("istio #35263 #28261: 5,000 clients that lose their server do not come back at once [C-RECON-1]", async () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const waits: number[] = [];
    for (let n = 0; n < 200; n++) {
      const { ask, server, events } = createClientWorld(variant, { client: { random } });
      await ask(PART, "a");
      server.raw.close();
      for (const event of events)
        if (event.kind === "closed") waits.push(Math.floor(event.retryMs / 20));
    }
    const busiest = Math.max(
      ...Map.groupBy(waits, (wait) => wait)
        .values()
        .map(({ length }) => length),
    );
    expect(waits).toHaveLength(200);
    expect(busiest).toBeLessThan(30);
  });
});

describe("known failures, seen from a client of SotW", () => {
  it("go-control-plane #540 #856 #1299: what a response of a full-state type leaves out is gone, and is there again with the next one; of others nothing goes [C-FULL-3] [C-FULL-4]", async () => {
    const { ask, server } = createClientWorld("sotw");
    const names = ["a", "b"];
    const watched = [...(await ask(FULL, ...names)), ...(await ask(PART, ...names))];
    const send = (...sent: readonly string[]): void => {
      for (const typeUrl of [FULL, PART])
        server.reply(typeUrl, { resources: sent.map((name) => ({ name, text: "1" })) });
    };
    send("a", "b");
    send("a");
    expect(watched.map(({ now }) => now)).toEqual(["a=1", "b!", "a=1", "b=1"]);
    send("a", "b");
    expect(watched.map(({ now }) => now)).toEqual(["a=1", "b=1", "a=1", "b=1"]);
  });

  it("envoy #8718: of two servers out of step neither hears the versions of the other [C-VER-6]", async () => {
    const one = createClientWorld("sotw");
    const other = createClientWorld("sotw", { runs: false });
    one.cache.addFeed(other.feed);
    await one.ask(PART, "a");
    one.server.reply(PART, { version: "7", resources: [{ name: "a", text: "1" }] });
    await reconnect(one);
    await reconnect(other);
    expect([one.server.rest().at(-1)?.version, other.server.rest().at(-1)?.version]).toEqual([
      "7",
      "",
    ]);
  });
});
