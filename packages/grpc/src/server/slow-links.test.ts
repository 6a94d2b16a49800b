import { once } from "node:events";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import { StatusCode } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { useRawCall } from "../../test/raw-call.ts";
import { enveloped, type RawClient, type RawClientCall } from "../../test/raw-client.ts";
import {
  frame,
  headerBlock,
  headerFrames,
  literalHeader,
  preface,
  received,
  useSocket,
} from "../../test/raw-socket.ts";
import { echoPath, messageOf, useServer } from "../../test/use-server.ts";

/** Resolves when this many further bytes of a call have been read. */
async function read(call: RawClientCall, bytes: number): Promise<void> {
  let left = bytes;
  await new Promise<void>((resolve) => {
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left > 0) return;
      call.stream.pause();
      call.stream.off("data", onData);
      resolve();
    };
    call.stream.on("data", onData);
    call.stream.resume();
  });
}

/**
 * Sends a ping after each DATA frame, as clients do that measure the bandwidth. There is one ping
 * at a time; the next one follows the first data after the answer.
 */
function measureBandwidth(client: RawClient, call: RawClientCall): { pings: number } {
  const counted = { pings: 0 };
  let open = false;
  call.stream.on("data", () => {
    if (open) return;
    open = true;
    counted.pings += 1;
    client.session.ping(() => {
      open = false;
    });
  });
  return counted;
}

describe("a client that measures the bandwidth", () => {
  test("may ping after each DATA frame of one large message [S-LIM-1]", async () => {
    const server = await useServer({
      handler: ({ out }) => ({
        onMessage: () => {
          out.send(messageOf(Buffer.alloc(6_000_000)));
        },
      }),
    });
    const client = await server.client();
    const call = client.call(echoPath);
    const counted = measureBandwidth(client, call);
    call.stream.write(enveloped("x"));
    expect((await call.next()).length).toBe(6_000_000);
    expect(counted.pings).toBeGreaterThan(10);
    expect(server.server.stats().cuts).toEqual({});
    call.stream.close();
  });

  test("is still cut when it goes on without data, settings in between or not [S-LIM-1]", async () => {
    const server = await useServer();
    const socket = await useSocket(server.port);
    const closed = once(socket, "close");
    const [ping, settings] = [frame(6, 0, 0, Buffer.alloc(8)), frame(4, 0, 0)];
    socket.write(
      Buffer.concat([
        Buffer.from(preface),
        settings,
        ...Array.from({ length: 20 }, () => [ping, settings]).flat(),
      ]),
    );
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "ping-flood": 1 });
  });
});

describe("a client on a slow link", () => {
  test("answers a ping by whatever the server receives; one that sends nothing more is cut", async () => {
    const server = await useServer();
    const { socket: mute } = await useRawCall(server.port);
    for (let round = 0; round < 3; round += 1) {
      server.clock.advance(30_000);
      mute.write(frame(0, 0, 1, enveloped(`again ${round}`)));
      await received(mute, enveloped(`again ${round}`));
      server.clock.advance(60_000);
      expect(server.server.stats().cuts).toEqual({});
    }
    server.clock.advance(90_000);
    expect(server.server.stats().cuts).toEqual({ "ping-timeout": 1 });
  });

  test("is not silent once a call sends its first bytes, and may take as long for them as they move [S-LIM-1]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const client = await server.client();
    const call = client.call(echoPath);
    const message = enveloped(Buffer.alloc(60_000, "x"));
    for (let at = 0; at < 50_000; at += 10_000) {
      call.stream.write(message.subarray(at, at + 10_000));
      await client.roundTrip();
      server.clock.advance(29_999);
    }
    expect(server.server.stats().cuts).toEqual({});
    call.stream.write(message.subarray(50_000));
    expect((await call.next()).length).toBe(60_000);
    call.stream.close();
  });

  test("is cut when a message that has begun does not go on [S-LIM-1]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.write(enveloped(Buffer.alloc(60_000)).subarray(0, 100));
    await client.roundTrip();
    server.clock.advance(60_000);
    expect((await call.result).trailers["grpc-status"]).toBe(String(StatusCode.DEADLINE_EXCEEDED));
    expect(server.server.stats().cuts).toEqual({ "slow-message": 1 });
  });

  test("may leave one stream unread while it reads another of the connection; with both unread both are cut [S-LIM-3]", async () => {
    const state = messageOf(Buffer.alloc(3_000_000));
    const server = await useServer({
      limits: { pingMs: 100_000_000 },
      handler: ({ out }) => ({
        onMessage: () => {
          out.send(state);
        },
      }),
    });
    const client = await server.client();
    const [slow, waiting] = [client.call(echoPath), client.call(echoPath)];
    waiting.stream.pause();
    slow.stream.write(enveloped("x"));
    waiting.stream.write(enveloped("x"));
    for (let round = 0; round < 4; round += 1) {
      await read(slow, 200_000);
      server.clock.advance(60_000);
      expect(server.server.stats().cuts).toEqual({});
    }
    server.clock.advance(120_000);
    await Promise.all([slow.result, waiting.result]);
    expect(server.server.stats().cuts).toEqual({ "not-reading": 2 });
  });
});

/** A header of 4,000 bytes for the HPACK table, and the one byte with which a peer refers to it. */
const tabled = literalHeader("x", "x".repeat(4_000));
tabled.writeUInt8(0x40, 0);
const reference = 0xbe;
const refers = (times: number): Buffer =>
  Buffer.concat([headerBlock(echoPath), Buffer.alloc(times, reference)]);
const refused = (streamId: number): Buffer =>
  frame(3, 0, streamId, Buffer.from([0, 0, 0, constants.NGHTTP2_ENHANCE_YOUR_CALM]));

/**
 * Opens a connection with a good call on stream 1. It sends `count` header blocks of 380 KB each,
 * in 150 bytes each, from stream `first` on.
 */
async function sendBombs(port: number, count: number, first = 3): Promise<Socket> {
  const socket = await useSocket(port);
  const bombs = Array.from({ length: count }, (_, i) => frame(1, 4, first + 2 * i, refers(95)));
  const read = received(socket, refused(first + 2 * (count - 1)));
  socket.write(
    Buffer.concat([
      Buffer.from(preface),
      frame(4, 0, 0),
      frame(4, 1, 0),
      frame(1, 4, 1, Buffer.concat([headerBlock(echoPath), tabled])),
      ...bombs,
    ]),
  );
  await read;
  return socket;
}

describe("a client that says GOAWAY", () => {
  test("keeps its open calls as long as it likes, and goes with the last one", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.write(enveloped("x"));
    await call.next();
    client.session.goaway(constants.NGHTTP2_NO_ERROR);
    for (let grace = 0; grace < 10; grace += 1) {
      server.clock.advance(30_000);
      // The answer to the server's probe comes before the second of two messages.
      for (const text of ["still", "served"]) {
        call.stream.write(enveloped(text));
        expect((await call.next()).toString()).toBe(text);
      }
    }
    call.stream.close();
    await client.closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({});
  });

  test("is asked by SETTINGS whether it is alive, since Node sends no PING then", async () => {
    const server = await useServer({ limits: { goawayGraceMs: 100_000_000 } });
    const { socket } = await useRawCall(server.port);
    socket.write(frame(7, 0, 0, Buffer.alloc(8)));
    await received(socket, frame(4, 0, 0));
    server.clock.advance(30_000);
    await received(socket, frame(4, 0, 0));
    socket.write(frame(0, 1, 1));
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({});
  });

  test("and breaks the protocol after it is cut, whatever calls it has [S-STREAM-7]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const { socket, closed } = await useRawCall(server.port);
    socket.write(frame(7, 0, 0, Buffer.alloc(8)));
    // The server has read the GOAWAY, because it now probes the session with SETTINGS.
    await received(socket, frame(4, 0, 0));
    const dataOnNoStream = frame(0, 0, 0, enveloped("x"));
    socket.write(dataOnNoStream);
    // The first of two intervals still counts the GOAWAY that the server has written.
    server.clock.advance(2 * 30_000);
    await closed;
    expect(server.server.stats().cuts).toEqual({ "goaway-grace": 1 });
  });
});

describe("a peer that sends what carries nothing", () => {
  test.for([
    [
      "WINDOW_UPDATE frames",
      Buffer.concat(Array.from({ length: 1_000 }, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1])))),
    ],
    [
      "DATA of a stream that was reset",
      Buffer.concat(Array.from({ length: 4 }, () => frame(0, 0, 1, Buffer.alloc(4_000)))),
    ],
  ] as const)("%s: is cut after some megabytes [S-LIM-1]", async ([, part]) => {
    const server = await useServer({ limits: { emptyBytes: 100_000 } });
    const { socket, closed } = await useRawCall(server.port);
    socket.write(frame(3, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])));
    for (let round = 0; round < 12; round += 1) socket.write(part);
    const marker = frame(0, 0, 3, enveloped("marker"));
    socket.write(Buffer.concat([frame(1, 4, 3, headerBlock(echoPath)), marker]));
    await received(socket, enveloped("marker"));
    server.clock.advance(1_000);
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "no-content": 1 });
  });

  test("headers that HTTP/2 rejects, for their size by compression: is cut after some of them [S-LIM-1]", async () => {
    const server = await useServer({ limits: { emptyBytes: 100_000 } });
    const socket = await useSocket(server.port);
    const closed = once(socket, "close");
    const entry = literalHeader("x", "x".repeat(4_000));
    entry.writeUInt8(0x40, 0);
    socket.write(
      Buffer.concat([
        Buffer.from(preface),
        frame(4, 0, 0),
        headerFrames(1, Buffer.concat([headerBlock(echoPath), entry, Buffer.alloc(40_000, 0xbe)])),
      ]),
    );
    for (let id = 3; id <= 9; id += 2)
      socket.write(
        headerFrames(id, Buffer.concat([headerBlock(echoPath), Buffer.alloc(40_000, 0xbe)])),
      );
    await received(
      socket,
      frame(3, 0, 9, Buffer.from([0, 0, 0, constants.NGHTTP2_ENHANCE_YOUR_CALM])),
    );
    server.clock.advance(1_000);
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "no-content": 1 });
  });

  test("header blocks that HTTP/2 rejects count for more than their bytes: is cut after 64 of 150 bytes each, at once [S-LIM-1]", async () => {
    const server = await useServer();
    const few = await sendBombs(server.port, 64);
    const many = await sendBombs(server.port, 65);
    const closed = once(many, "close");
    server.clock.advance(49);
    expect(server.server.stats().cuts).toEqual({});
    server.clock.advance(1);
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts["no-content"]).toBeGreaterThan(0);
    few.destroy();
  });

  test("and what sends them over several connections gets no more of them; other connections of the same address stay [S-LIM-1]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const call = (await server.client()).call(echoPath);
    for (let n = 0; n < 3; n += 1) await sendBombs(server.port, 20);
    const closed = once(await sendBombs(server.port, 20), "close");
    server.clock.advance(50);
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({ connections: 4, cuts: { "no-content": 1 } });
    const next = await sendBombs(server.port, 1);
    const nextClosed = once(next, "close");
    server.clock.advance(50);
    await nextClosed;
    server.clock.advance(256_000);
    await sendBombs(server.port, 20);
    server.clock.advance(50);
    expect(server.server.stats().cuts["no-content"]).toBe(2);
    call.stream.write(enveloped("x"));
    expect((await call.next()).toString()).toBe("x");
    call.stream.close();
  });

  test("is not one with 100 calls of 64 KB of headers each [S-LIM-1]", async () => {
    const server = await useServer({ limits: { emptyBytes: 1_000_000 } });
    const socket = await useSocket(server.port);
    const large = Buffer.concat([
      headerBlock(echoPath),
      ...[1, 2, 3, 4].map((n) => literalHeader(`x${n}`, "x".repeat(16_000))),
    ]);
    const opened = server.event("stream-opened", () => server.server.stats().streams === 100);
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0), frame(4, 1, 0)]));
    for (let n = 0; n < 100; n += 1) socket.write(headerFrames(2 * n + 1, large));
    await opened;
    server.clock.advance(1_000);
    expect(server.server.stats().cuts).toEqual({});
  });

  test("is not one that leaves out ids of streams: what was not sent was not rejected", async () => {
    const server = await useServer();
    const { socket } = await useRawCall(server.port);
    socket.write(
      Buffer.concat([
        frame(1, 4, 1_000_001, headerBlock(echoPath)),
        frame(0, 0, 1_000_001, enveloped("y")),
      ]),
    );
    await received(socket, enveloped("y"));
    server.clock.advance(1_000);
    expect(server.server.stats().cuts).toEqual({});
  });

  test("headers that are too large do not count as content [S-LIM-1]", async () => {
    const server = await useServer({ limits: { emptyBytes: 400_000 } });
    const socket = await useSocket(server.port);
    const closed = once(socket, "close");
    const large = Array.from({ length: 7 }, (_, n) => literalHeader(`x${n}`, "x".repeat(16_000)));
    socket.write(Buffer.concat([Buffer.from(preface), frame(4, 0, 0), frame(4, 1, 0)]));
    const block = Buffer.concat([headerBlock(echoPath), ...large]);
    for (let n = 0; n < 5; n += 1) socket.write(headerFrames(2 * n + 1, block));
    await server.event("stream-cut", () => server.server.stats().cuts["headers-too-large"] === 5);
    server.clock.advance(50);
    await closed;
    expect(server.server.stats().cuts["no-content"]).toBe(1);
  });

  test("is not one that reads much with a small window, or sends large messages in small frames [S-LIM-1]", async () => {
    const server = await useServer({
      limits: { emptyBytes: 20_000 },
      handler: ({ out }) => ({
        onMessage: () => {
          out.send(messageOf(Buffer.alloc(3_000_000)));
        },
      }),
    });
    const client = await server.client();
    const call = client.call(echoPath);
    for (const byte of enveloped(Buffer.alloc(3_000))) call.stream.write(Buffer.from([byte]));
    expect((await call.next()).length).toBe(3_000_000);
    server.clock.advance(1_000);
    expect(server.server.stats().cuts).toEqual({});
    call.stream.close();
  });

  test("calls that cannot be served end their connection once there are too many; some come back each second [S-LIM-1]", async () => {
    const server = await useServer({ limits: { rejectedCalls: 5 } });
    const client = await server.client();
    const reject = async (): Promise<void> => {
      const call = client.call(echoPath);
      call.stream.write(enveloped("x", 1));
      await call.result;
    };
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 5; n += 1) await reject();
      server.clock.advance(1_000);
    }
    expect(server.server.stats().cuts).toEqual({ compressed: 15 });
    for (let n = 0; n < 6; n += 1) client.call("/no.such.Service/Method");
    await client.closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ compressed: 15, "rejected-calls": 1 });
  });

  test.for([
    ["INVALID_ARGUMENT", "its first message"],
    ["INVALID_ARGUMENT", "the call itself"],
    ["UNIMPLEMENTED", "the call itself"],
  ] as const)(
    "is cut after too many calls that the handler ends with %s for %s [S-LIM-1]",
    async ([code, what]) => {
      const status = { code: StatusCode[code], message: "" };
      const server = await useServer({
        limits: { rejectedCalls: 5 },
        ...(what === "the call itself" ? { accept: () => status } : {}),
        handler: ({ out }) => ({
          onMessage: () => {
            out.close(status);
          },
        }),
      });
      const client = await server.client();
      const reject = async (): Promise<void> => {
        const call = client.call(echoPath);
        call.stream.write(enveloped("x"));
        await call.result;
      };
      for (let n = 0; n < 5; n += 1) await reject();
      expect(server.server.stats().cuts).toEqual({});
      await reject();
      await client.closed;
      await server.event("connection-closed");
      expect(server.server.stats().cuts).toEqual({ "rejected-calls": 1 });
    },
  );

  test("is not one whose calls the handler ends for other reasons [S-LIM-1]", async () => {
    const codes = [
      StatusCode.OK,
      StatusCode.UNAVAILABLE,
      StatusCode.RESOURCE_EXHAUSTED,
      StatusCode.PERMISSION_DENIED,
      StatusCode.UNAUTHENTICATED,
      StatusCode.INTERNAL,
    ];
    const server = await useServer({
      limits: { rejectedCalls: 1 },
      handler: ({ out }) => ({
        onMessage: (message) => {
          out.close({ code: message[0] ?? 0, message: "" });
        },
      }),
    });
    const client = await server.client();
    for (const code of [...codes, ...codes]) {
      const call = client.call(echoPath);
      call.stream.write(enveloped(Uint8Array.of(code)));
      expect((await call.result).trailers["grpc-status"]).toBe(String(code));
    }
    expect(server.server.stats().cuts).toEqual({});
  });

  test.for([
    ["20 streams", 20, 20],
    ["a fiftieth of a high limit", 2_000, 40],
  ] as const)(
    "is not one that opens again each second what is rejected: %s [S-LIM-1]",
    async ([, rejectedCalls, streams]) => {
      const server = await useServer({
        limits: { rejectedCalls, pingMs: 100_000_000 },
        accept: () => ({ code: StatusCode.INVALID_ARGUMENT, message: "type_url is missing" }),
      });
      const client = await server.client();
      const open = async (count: number): Promise<unknown> =>
        Promise.all(Array.from({ length: count }, async () => client.call(echoPath).result));
      await open(rejectedCalls);
      for (let second = 0; second < 10; second += 1) {
        server.clock.advance(1_000);
        await open(streams);
      }
      expect(server.server.stats().cuts).toEqual({});
      await open(1);
      expect(server.server.stats().cuts).toEqual({ "rejected-calls": 1 });
    },
  );

  test("is cut for calls to a streaming method that are not gRPC [S-LIM-1]", async () => {
    const server = await useServer({ limits: { rejectedCalls: 3 } });
    const client = await server.client();
    const [method, type] = [{ ":method": "PUT" }, { "content-type": "text/plain" }];
    for (const headers of [method, type, method, type]) await client.call(echoPath, headers).result;
    await client.closed;
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "rejected-calls": 1 });
  });
});
