import { once } from "node:events";
import { constants } from "node:http2";
import { StatusCode } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import {
  frame,
  headerBlock,
  headerFrames,
  literalHeader,
  preface,
  received,
  useSocket,
} from "../../test/raw-socket.ts";
import { echoPath, useServer, type TestServer } from "../../test/use-server.ts";
import { headerListSize } from "../wire/request-headers.ts";

/**
 * The ways in which a connection begins, with and without an acknowledgment of the SETTINGS. The
 * limits that HTTP/2 itself enforces apply to both.
 */
const hello = Buffer.concat([Buffer.from(preface), frame(4, 0, 0)]);
const greetings = [
  ["acknowledges the SETTINGS", Buffer.concat([hello, frame(4, 1, 0)])],
  ["ignores the SETTINGS", hello],
] as const;

const block = (...more: readonly Buffer[]): Buffer =>
  Buffer.concat([headerBlock(echoPath), ...more]);
const opens = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, i) => frame(1, 4, 2 * i + 1, block()));

async function serves(server: TestServer): Promise<void> {
  const call = (await server.client()).call(echoPath);
  call.stream.write(enveloped("x"));
  expect((await call.next()).toString()).toBe("x");
  call.stream.close();
}

describe("maxStreamsPerConnection", () => {
  const limits = { maxStreamsPerConnection: 3 };

  test("is told to the client, and counted whenever it is reached [S-LIM-1]", async () => {
    const server = await useServer({ limits });
    const client = await server.client();
    expect(client.session.remoteSettings.maxConcurrentStreams).toBe(3);
    const calls = [1, 2].map(() => client.call(echoPath));
    await client.roundTrip();
    expect(server.server.stats()).toMatchObject({ streams: 2, connectionsFilled: 0 });
    calls.push(client.call(echoPath));
    await client.roundTrip();
    expect(server.server.stats().connectionsFilled).toBe(1);
    calls[0]?.stream.close();
    await server.event("stream-closed");
    calls.push(client.call(echoPath));
    await client.roundTrip();
    expect(server.server.stats()).toMatchObject({ streams: 3, connectionsFilled: 2, cuts: {} });
    for (const call of calls) call.stream.close();
  });

  test("rejects what comes before the SETTINGS are acknowledged, and the client may try again [S-LIM-1]", async () => {
    const server = await useServer({ limits });
    const socket = await useSocket(server.port);
    socket.write(Buffer.concat([hello, ...opens(4)]));
    await received(
      socket,
      frame(3, 0, 7, Buffer.from([0, 0, 0, constants.NGHTTP2_REFUSED_STREAM])),
    );
    expect(server.server.stats()).toMatchObject({
      streams: 3,
      streamsOpened: 3,
      connectionsFilled: 1,
      cuts: {},
    });
  });

  test("ends the connection of a client that has acknowledged it and sends more, and of one that goes on; nobody else notices [S-LIM-1]", async () => {
    const server = await useServer({ limits });
    const knows = await useSocket(server.port);
    const told = received(knows, "max concurrent streams exceeded");
    knows.write(Buffer.concat([greetings[0][1], ...opens(4)]));
    await told;
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({
      connections: 0,
      streams: 0,
      streamsOpened: 3,
      connectionsFilled: 1,
      cuts: { "protocol-error": 1 },
    });
    expect(server.events).toContainEqual({
      kind: "connection-cut",
      peer: expect.any(String) as string,
      reason: "protocol-error",
      detail: "Protocol error",
    });
    const ignores = await useSocket(server.port);
    const closed = once(ignores, "close");
    ignores.write(Buffer.concat([hello, ...opens(1010)]));
    await closed;
    await server.event("connection-closed", () => server.server.stats().connections === 0);
    expect(server.server.stats()).toMatchObject({
      streams: 0,
      streamsOpened: 6,
      connectionsFilled: 2,
      cuts: { "protocol-error": 2 },
    });
    await serves(server);
  });
});

describe("headerListBytes", () => {
  const base = headerListSize([
    ":method",
    "POST",
    ":scheme",
    "http",
    ":path",
    echoPath,
    ":authority",
    "a",
    "content-type",
    "application/grpc",
  ]);
  /** Returns a header that makes the header list this large. */
  const filling = (size: number): Buffer =>
    literalHeader("x-large", "x".repeat(size - base - 32 - "x-large".length));

  test.for(greetings)(
    "rejects a call above it with RESOURCE_EXHAUSTED, of a client that %s; not one at it [S-LIM-1]",
    async ([, greeting]) => {
      const server = await useServer({ limits: { headerListBytes: 16_384 } });
      const socket = await useSocket(server.port);
      socket.write(Buffer.concat([greeting, headerFrames(1, block(filling(16_384)))]));
      await server.event("stream-opened");
      expect(server.server.stats().cuts).toEqual({});
      const large = [
        filling(16_385),
        filling(60_000),
        Buffer.concat(Array.from({ length: 600 }, (_, i) => literalHeader(`x${i}`, ""))),
        Buffer.concat([1, 2, 3, 4].map(() => filling(30_000))),
      ];
      const cut = server.event(
        "stream-cut",
        () => server.server.stats().cuts["headers-too-large"] === large.length,
      );
      socket.write(Buffer.concat(large.map((more, i) => headerFrames(2 * i + 3, block(more)))));
      expect(await cut).toMatchObject({
        path: echoPath,
        reason: "headers-too-large",
        status: {
          code: StatusCode.RESOURCE_EXHAUSTED,
          message:
            "the headers of the call are too large: 16385 bytes, at most 16384; the limit of the server is headerListBytes",
        },
      });
      expect(server.server.stats()).toMatchObject({
        connections: 1,
        streamsOpened: 1,
        cuts: { "headers-too-large": 4 },
      });
    },
  );

  test.for(greetings)(
    "comes with one of 1,000 headers, however short they are, also for a client that %s [S-LIM-1]",
    async ([, greeting]) => {
      const server = await useServer();
      const socket = await useSocket(server.port);
      const entry = literalHeader("x", "");
      entry.writeUInt8(0x40, 0);
      const reset = received(
        socket,
        frame(3, 0, 3, Buffer.from([0, 0, 0, constants.NGHTTP2_ENHANCE_YOUR_CALM])),
      );
      socket.write(
        Buffer.concat([
          greeting,
          headerFrames(1, block(entry, Buffer.alloc(994, 0xbe))),
          headerFrames(3, block(Buffer.alloc(996, 0xbe))),
        ]),
      );
      await reset;
      expect(server.calls).toHaveLength(1);
      expect(server.server.stats().cuts).toEqual({});
    },
  );

  test("admits a token of 17 KiB by default, since those of some identity providers are as large [S-LIM-1]", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath, { authorization: `Bearer ${"x".repeat(17 * 1024)}` });
    call.stream.write(enveloped("x"));
    const rejection = call.result.then(({ trailers }) => trailers["grpc-message"]);
    expect(String(await Promise.race([call.next(), rejection]))).toBe("x");
    expect(server.server.stats().cuts).toEqual({});
    call.stream.close();
  });

  test("is told to a gRPC client as a status, and to others as 431; the path is not told on at any length [S-LIM-1]", async () => {
    const server = await useServer({ limits: { headerListBytes: 300 } });
    const client = await server.client();
    const [grpc, other] = [
      client.call(`/${"p".repeat(2000)}`),
      client.call(echoPath, { "content-type": "text/plain", "x-large": "x".repeat(300) }),
    ];
    expect((await grpc.result).trailers).toMatchObject({
      "grpc-status": String(StatusCode.RESOURCE_EXHAUSTED),
      "grpc-message": expect.stringMatching(
        /^the headers of the call are too large: \d+ bytes, at most 300; the limit of the server is headerListBytes$/,
      ) as string,
    });
    expect((await other.result).headers[":status"]).toBe(431);
    expect(server.events.find(({ kind }) => kind === "stream-cut")).toMatchObject({
      path: `/${"p".repeat(1023)}`,
    });
    await client.roundTrip();
  });

  test.for(greetings)(
    "does not let through what HTTP/2 itself ends, of a client that %s [S-LIM-1]",
    async ([, greeting]) => {
      const server = await useServer();
      const long = await useSocket(server.port);
      const closed = once(long, "close");
      long.write(
        Buffer.concat([
          greeting,
          headerFrames(
            1,
            block(
              ...Array.from({ length: 20 }, (_, i) => literalHeader(`x${i}`, "x".repeat(16_000))),
            ),
          ),
        ]),
      );
      await closed;
      await server.event("connection-closed");
      expect(server.server.stats().cuts).toEqual({ "protocol-error": 1 });
      await serves(server);
    },
  );

  test.for(greetings)(
    "holds for a list that is large by its compression, of a client that %s [S-LIM-1]",
    async ([, greeting]) => {
      const server = await useServer();
      const socket = await useSocket(server.port);
      const entry = literalHeader("x", "x".repeat(4000));
      entry.writeUInt8(0x40, 0);
      // 100,000 references of one byte each to the newest entry of the table, which has 4,000
      // bytes.
      const reset = received(
        socket,
        Buffer.concat([
          frame(3, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_ENHANCE_YOUR_CALM])),
        ]),
      );
      socket.write(
        Buffer.concat([greeting, headerFrames(1, block(entry, Buffer.alloc(100_000, 0xbe)))]),
      );
      await reset;
      expect(server.calls).toHaveLength(0);
      await serves(server);
    },
  );
});
