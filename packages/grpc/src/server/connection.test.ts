import { once } from "node:events";
import { constants } from "node:http2";
import { StatusCode } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { createRandom, scaled, seedOf } from "../../test/random.ts";
import { useRawCall } from "../../test/raw-call.ts";
import { enveloped } from "../../test/raw-client.ts";
import { frame, preface, useSocket } from "../../test/raw-socket.ts";
import { echoPath, messageOf, useServer } from "../../test/use-server.ts";

describe("createConnection()", () => {
  test("cuts a connection on which no call is served in 15 s [S-LIM-1]", async () => {
    const server = await useServer();
    const client = await server.client();
    await client.call("/test.Echo/None").result;
    server.clock.advance(14_999);
    expect(server.server.stats().cuts).toEqual({});
    server.clock.advance(1);
    await client.closed;
    expect(server.server.stats().cuts).toEqual({ silent: 1 });
  });

  test("sets no deadline for a stream without a message, also where it is the only one of its connection [S-LIM-1]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const client = await server.client();
    const silent = client.call(echoPath);
    await server.event("stream-opened");
    server.clock.advance(10_000_000);
    expect(server.server.stats().cuts).toEqual({});
    silent.stream.write(enveloped("at last"));
    expect((await silent.next()).toString()).toBe("at last");
    silent.stream.close();
  });

  test("sets no deadline for a client whose calls are rejected for now [S-LIM-1]", async () => {
    const server = await useServer({
      limits: { pingMs: 100_000_000 },
      accept: () => ({ code: StatusCode.UNAVAILABLE, message: "not ready" }),
    });
    const client = await server.client();
    expect((await client.call(echoPath).result).trailers["grpc-status"]).toBe("14");
    server.clock.advance(10_000_000);
    await client.roundTrip();
    expect(server.server.stats().cuts).toEqual({});
  });

  test.for([
    ["nothing at all", ""],
    ["only a preface", preface],
    ["half a frame", `${preface}\0\0`],
  ] as const)("cuts a socket that sends %s in 15 s [S-LIM-1]", async ([, bytes]) => {
    const server = await useServer();
    const socket = await useSocket(server.port);
    socket.write(bytes);
    await server.event("connection-opened");
    server.clock.advance(15_000);
    await once(socket, "close");
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({ connections: 0, cuts: { silent: 1 } });
  });

  test("pings a client, and cuts it when it does not answer in 60 s, for Envoy reads nothing while it applies a large response", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.write(enveloped("x"));
    await call.next();
    for (let round = 0; round < 3; round += 1) {
      const pinged = once(client.session, "ping");
      const timers = server.clock.pending;
      server.clock.advance(30_000);
      await pinged;
      await client.roundTrip();
      expect(server.clock.pending).toBe(timers);
    }
    client.close();
    await server.event("connection-closed");
    await useRawCall(server.port);
    server.clock.advance(89_999);
    expect(server.server.stats().cuts).toEqual({});
    server.clock.advance(1);
    expect(await server.calls[1]?.closed).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: "the connection was cut: ping-timeout",
    });
  });

  test.for([
    ["back", -3_600_000],
    ["forward", 3_600_000],
  ] as const)(
    "sends pings and closes connections without an answer at the same times when the wall clock steps by an hour %s",
    async ([, stepMs]) => {
      const server = await useServer();
      const client = await server.client();
      const call = client.call(echoPath);
      call.stream.write(enveloped("x"));
      await call.next();
      for (let round = 0; round < 3; round += 1) {
        const pinged = once(client.session, "ping");
        server.clock.stepWallTime(stepMs);
        server.clock.advance(30_000);
        await pinged;
        await client.roundTrip();
      }
      client.close();
      await server.event("connection-closed");
      await useRawCall(server.port);
      server.clock.stepWallTime(stepMs);
      server.clock.advance(89_999);
      expect(server.server.stats().cuts).toEqual({});
      server.clock.stepWallTime(stepMs);
      server.clock.advance(1);
      expect((await server.calls[1]?.closed)?.message).toBe("the connection was cut: ping-timeout");
    },
  );

  test("sends a client that pings too often away with ENHANCE_YOUR_CALM [S-LIM-1]", async () => {
    const server = await useServer();
    const client = await server.client();
    const goaway = once(client.session, "goaway");
    for (let ping = 0; ping < 6; ping += 1) client.session.ping(() => undefined);
    expect((await goaway)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "ping-flood": 1 });
  });

  test("takes pings that answer data: clients measure the bandwidth with them [S-LIM-1]", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath);
    for (let round = 0; round < 20; round += 1) {
      call.stream.write(enveloped("x"));
      await call.next();
      await client.roundTrip();
    }
    expect(server.server.stats().cuts).toEqual({});
    call.stream.close();
  });

  test("bounds connections, of one peer too [S-LIM-1]", async () => {
    const server = await useServer({ limits: { maxConnectionsPerPeer: 2 } });
    await server.client();
    await server.client();
    const third = await useSocket(server.port);
    third.write(preface + frame(4, 0, 0).toString("latin1"), "latin1");
    await once(third, "close");
    expect(server.server.stats()).toMatchObject({
      connections: 2,
      cuts: { "too-many-connections": 1 },
    });
  });

  test("bounds the streams of one peer with RESOURCE_EXHAUSTED [S-LIM-1]", async () => {
    const server = await useServer({ limits: { maxStreamsPerPeer: 2 } });
    const [a, b] = [await server.client(), await server.client()];
    const kept = [a.call(echoPath), b.call(echoPath)];
    await Promise.all([a.roundTrip(), b.roundTrip()]);
    expect((await b.call(echoPath).result).trailers["grpc-status"]).toBe("8");
    kept[0]?.stream.close();
    await server.event("stream-closed");
    const again = b.call(echoPath);
    again.stream.write(enveloped("x"));
    await again.next();
    expect(server.server.stats().cuts).toEqual({ "too-many-streams": 1 });
    for (const call of [...kept, again]) call.stream.close();
  });

  test("bounds the memory of unfinished messages of one connection, and gives it back [S-LIM-1]", async () => {
    const server = await useServer({ limits: { maxPartialBytes: 250_000 } });
    const client = await server.client();
    const begun = enveloped(Buffer.alloc(200_000)).subarray(0, 60_000);
    const calls = Array.from({ length: 4 }, () => client.call(echoPath));
    for (const call of calls) call.stream.write(begun);
    const fits = Math.floor(250_000 / 65_536);
    expect(
      (await Promise.race(calls.map(async (call) => call.result))).trailers["grpc-status"],
    ).toBe("8");
    expect(server.server.stats().cuts).toEqual({ "partial-bytes": calls.length - fits });
    for (const call of calls) call.stream.close();
    await server.event("stream-closed", () => server.server.stats().streams === 0);
    const again = client.call(echoPath);
    again.stream.write(enveloped(Buffer.alloc(200_000)));
    expect((await again.next()).length).toBe(200_000);
    again.stream.close();
  });

  test("serves 2,000 streams on one connection", async () => {
    const server = await useServer();
    const client = await server.client();
    const calls = Array.from({ length: 2000 }, () => client.call(echoPath));
    for (const call of calls) call.stream.write(enveloped("x"));
    await Promise.all(calls.map(async (call) => call.next()));
    for (const seen of server.calls) seen.out.send(messageOf(Buffer.alloc(10_000)));
    await Promise.all(calls.map(async (call) => call.next()));
    expect(server.server.stats()).toMatchObject({ streams: 2000, cuts: {} });
  });

  test("leaves nothing behind after 1,000 streams opened and closed in every way [S-STREAM-10]", async () => {
    const server = await useServer();
    const client = await server.client();
    const first = client.call(echoPath);
    first.stream.write(enveloped("x"));
    await first.next();
    const timers = server.clock.pending;
    for (let batch = 0; batch < 10; batch += 1) {
      const calls = Array.from({ length: 100 }, () =>
        client.call(echoPath, { "grpc-timeout": "1H" }),
      );
      for (const [index, call] of calls.entries()) {
        call.stream.write(index % 4 === 0 ? enveloped("part").subarray(0, 7) : enveloped("x"));
        if (index % 4 === 1) call.stream.end();
        if (index % 4 === 2) call.stream.close(constants.NGHTTP2_CANCEL);
        if (index % 4 === 3) call.stream.write("garbage");
      }
      await Promise.all(
        calls.filter((_, index) => index % 4 !== 0).map(async (call) => call.result),
      );
      await client.roundTrip();
      for (const [index, call] of calls.entries())
        if (index % 4 === 0) call.stream.close(constants.NGHTTP2_CANCEL);
    }
    await server.event("stream-closed", () => server.server.stats().streams === 1);
    expect(server.server.stats()).toMatchObject({ streams: 1, streamsOpened: 1001 });
    expect(server.clock.pending).toBe(timers);
    expect(server.calls.slice(1).map((seen) => seen.closedTimes)).toEqual(
      Array.from({ length: 1000 }, () => 1),
    );
    first.stream.close();
  });

  test("lets a client give up 1,000 streams at once", async () => {
    const server = await useServer();
    const client = await server.client();
    const calls = Array.from({ length: 1000 }, () => client.call(echoPath));
    await client.roundTrip();
    for (const call of calls) call.stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(calls.map(async (call) => call.result));
    const after = client.call(echoPath);
    after.stream.write(enveloped("x"));
    expect((await after.next()).toString()).toBe("x");
    after.stream.close();
  });

  test(`survives ${scaled(10_000)} connections that send garbage frames and break off [S-STREAM-7]`, async () => {
    const seed = seedOf();
    const random = createRandom(seed);
    const server = await useServer();
    const keeper = await server.client();
    const call = keeper.call(echoPath);
    for (let round = 0; round < scaled(10_000); round += 1) {
      const socket = await useSocket(server.port);
      const closed = once(socket, "close");
      const frames = Array.from({ length: random(8) }, () =>
        frame(
          random(12),
          random(256),
          random(8),
          Buffer.from(Array.from({ length: random(40) }, () => random(256))),
        ),
      );
      socket.write(
        Buffer.concat([
          Buffer.from(random(8) === 0 ? "GET / HTTP/1.1\r\n\r\n" : preface),
          frame(4, 0, 0),
          ...frames,
        ]),
      );
      if (random(2) === 0) socket.resetAndDestroy();
      else socket.end();
      await closed;
      call.stream.write(enveloped(String(round)));
      expect({ seed, said: (await call.next()).toString() }).toEqual({ seed, said: String(round) });
    }
    await server.event("connection-closed", () => server.server.stats().connections === 1);
    expect(server.server.stats().faults).toBe(0);
    call.stream.close();
  });
});
