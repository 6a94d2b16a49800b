import dns from "node:dns";
import { once } from "node:events";
import {
  createServer as createHttp2Server,
  constants,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { StatusCode, type ByteStream } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createRandom, scaled, seedOf } from "../../test/random.ts";
import { enveloped } from "../../test/raw-client.ts";
import { frame } from "../../test/raw-socket.ts";
import { useChannel, type ClientSeen, type TestChannel } from "../../test/use-channel.ts";
import { echoPath, messageOf, useServer } from "../../test/use-server.ts";
import { createGrpcChannel } from "./grpc-channel.ts";

/** Starts a TCP server. The test decides what it does with each socket. */
async function useTcp(onSocket: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {
      /* so it should */
    });
    onTestFinished(() => {
      socket.destroy();
    });
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP/2 server. The test decides what it does with each call. */
async function useHttp2(
  onStream: (stream: ServerHttp2Stream) => void,
  listenOn: string | number = 0,
): Promise<number> {
  const server = createHttp2Server();
  server.on("session", (session) => {
    onTestFinished(() => {
      session.destroy();
    });
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {
      /* so it should */
    });
    onStream(stream);
  });
  if (typeof listenOn === "string") server.listen(listenOn);
  else server.listen(listenOn, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return typeof listenOn === "string" ? 0 : (server.address() as AddressInfo).port;
}

const answer = { ":status": 200, "content-type": "application/grpc" };

async function echoed(call: ClientSeen, text: string): Promise<void> {
  const before = call.messages.length;
  call.stream.send(messageOf(text));
  await call.has(before + 1);
  expect(call.messages[before]?.toString()).toBe(text);
}

/** Starts a server that counts pings. The test decides when it answers them. */
async function usePingedServer(): Promise<{
  readonly port: number;
  readonly answer: Promise<ServerHttp2Stream>;
  readonly pings: () => number;
}> {
  const server = createHttp2Server();
  let pings = 0;
  server.on("session", (session) => {
    session.on("ping", () => {
      pings += 1;
    });
  });
  const answer = new Promise<ServerHttp2Stream>((resolve) => {
    server.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      resolve(stream);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, answer, pings: () => pings };
}

describe("createGrpcChannel()", () => {
  test("carries messages both ways, with the headers of gRPC and those of the call", async () => {
    const server = await useServer();
    const wire = useChannel(server.port, { userAgent: "demo/1" });
    const { channel, events } = wire;
    const seen = wire.call({}, { path: echoPath, metadata: { authorization: "Bearer x" } });
    expect(channel.connectivity()).toEqual({ state: "connecting" });
    await echoed(seen, "hello");
    await echoed(seen, "");
    expect(server.calls[0]?.call).toMatchObject({
      path: echoPath,
      headers: {
        ":authority": `localhost:${server.port}`,
        "content-type": "application/grpc+proto",
        te: "trailers",
        authorization: "Bearer x",
        "user-agent": expect.stringMatching(/^demo\/1 grpc-node-xdstp\/\d/) as string,
      },
    });
    expect(server.calls[0]?.call.headers).not.toHaveProperty("grpc-accept-encoding");
    expect(
      events.map((event) => event.kind === "connectivity" && event.connectivity.state),
    ).toEqual(["connecting", "ready"]);
  });

  test("sends what was sent before there was a connection, and says when there is room", async () => {
    const server = await useServer();
    const seen = useChannel(server.port).call();
    const roomy = seen.roomy();
    expect([seen.stream.send(messageOf("a")), seen.stream.send(messageOf("b"))]).toEqual([
      false,
      false,
    ]);
    await roomy;
    expect(seen.stream.send(messageOf("c"))).toBe(true);
    await seen.has(3);
    expect(seen.messages.map(String)).toEqual(["a", "b", "c"]);
    expect(seen.drained).toBe(1);
  });

  test("probes the peer once while nothing is sent or received, and says whether more is on its way", async () => {
    const { port, answer, pings } = await usePingedServer();
    const seen = useChannel(port).call();
    const probe = (): Promise<boolean> =>
      new Promise((resolve) => {
        seen.stream.probe?.(resolve);
      });
    seen.stream.send(messageOf("a"));
    (await answer).write(enveloped("x"));
    await seen.has(1);
    expect(await Promise.all([probe(), probe()])).toEqual([true, true]);
    expect([await probe(), pings()]).toEqual([true, 1]);
    seen.stream.send(messageOf("b"));
    (await answer).write(enveloped("y"));
    expect([await probe(), seen.messages.map(String), pings()]).toEqual([false, ["x", "y"], 2]);
    (await answer).write(Buffer.concat([enveloped("z"), enveloped("half").subarray(0, 7)]));
    await seen.has(3);
    expect([await probe(), pings()]).toEqual([false, 2]);
    (await answer).write(enveloped("half").subarray(7));
    await seen.has(4);
    seen.stream.pause?.();
    expect(await probe()).toBe(false);
    seen.stream.resume?.();
    expect([await probe(), pings()]).toEqual([true, 3]);
    // Otherwise the channel, when it closes, waits for the end of the stream for the whole grace
    // period.
    (await answer).close();
  });

  test("says when the wire is full, and when it is not", async () => {
    const server = await useServer({
      handler: (seen) => ({
        onMessage: (message) => {
          seen.messages.push(Buffer.from(message));
        },
      }),
    });
    const { call } = useChannel(server.port);
    const seen = call();
    const begun = seen.roomy();
    seen.stream.send(messageOf("x"));
    await begun;
    await server.event("stream-opened");
    server.calls[0]?.out.pause?.();
    const big = messageOf(Buffer.alloc(1 << 20));
    let sent = 0;
    while (seen.stream.send(big)) sent += 1;
    const roomy = seen.roomy();
    server.calls[0]?.out.resume?.();
    await roomy;
    expect(sent).toBeLessThan(4);
  });

  test("says nothing to a handler that has closed, though the wire becomes empty", async () => {
    const server = await useServer({
      handler: (seen) => ({
        onMessage: (message) => {
          seen.messages.push(Buffer.from(message));
        },
      }),
    });
    const seen = useChannel(server.port).call();
    const begun = seen.roomy();
    seen.stream.send(messageOf("x"));
    await begun;
    await server.event("stream-opened");
    server.calls[0]?.out.pause?.();
    const big = messageOf(Buffer.alloc(1 << 20));
    while (seen.stream.send(big));
    seen.stream.close({ code: StatusCode.OK, message: "" });
    server.calls[0]?.out.resume?.();
    await seen.closed;
    expect(seen.drained).toBe(1);
  });

  test("ends in order: what was sent arrives, and the server ends the call", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port);
    const seen = call();
    await echoed(seen, "x");
    seen.stream.send(messageOf("last"));
    seen.stream.close({ code: StatusCode.OK, message: "" });
    expect(await seen.closed).toEqual({ code: StatusCode.OK, message: "" });
    expect(await server.calls[0]?.closed).toEqual({ code: StatusCode.OK, message: "" });
    expect(server.calls[0]?.messages.map(String)).toEqual(["x", "last"]);
    expect(seen.messages.map(String)).toEqual(["x"]);
    expect(seen.stream.send(messageOf("late"))).toBe(false);
  });

  test("ends a call with another status at once", async () => {
    const server = await useServer();
    const seen = useChannel(server.port).call();
    await echoed(seen, "x");
    seen.stream.close({ code: StatusCode.INTERNAL, message: "mine" });
    expect(await seen.closed).toEqual({ code: StatusCode.INTERNAL, message: "mine" });
    await server.calls[0]?.closed;
  });

  test("resets a call that the server does not end in time", async () => {
    const clock = createFakeClock();
    const resets: number[] = [];
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.write(messageOf("hello").enveloped);
      stream.on("close", () => {
        resets.push(stream.rstCode);
      });
    });
    const seen = useChannel(port, { clock }).call();
    await seen.has(1);
    seen.stream.close({ code: StatusCode.OK, message: "" });
    clock.advance(5_000);
    expect(await seen.closed).toEqual({ code: StatusCode.OK, message: "" });
    expect(clock.pending).toBe(0);
  });

  test.each([
    ["in trailers", StatusCode.PERMISSION_DENIED, "no: 100 % ä\u001b[2J", "no: 100 % ä [2J"],
    ["without a text", StatusCode.UNAVAILABLE, "", ""],
    ["OK", StatusCode.OK, "", ""],
  ])("tells the status of the server: %s", async (_, code, message, told) => {
    const server = await useServer({
      handler: ({ out }) => ({
        onMessage: () => {
          out.close({ code, message });
        },
      }),
    });
    const seen = useChannel(server.port).call();
    seen.stream.send(messageOf("x"));
    expect(await seen.closed).toEqual({ code, message: told });
  });

  test("tells the status of a call that was rejected at once (trailers only)", async () => {
    const server = await useServer({
      accept: () => ({ code: StatusCode.UNAUTHENTICATED, message: "who are you?" }),
    });
    expect(await useChannel(server.port).call().closed).toEqual({
      code: StatusCode.UNAUTHENTICATED,
      message: "who are you?",
    });
  });

  test.each([
    ["HTTP 503", { ":status": 503 }, StatusCode.UNAVAILABLE, "HTTP 503"],
    [
      "HTTP 404",
      { ":status": 404 },
      StatusCode.UNIMPLEMENTED,
      "is the service served at this address?",
    ],
    ["HTTP 401", { ":status": 401 }, StatusCode.UNAUTHENTICATED, "does it want credentials?"],
    [
      "HTTP 502 with a status",
      { ":status": 502, "grpc-status": "5", "grpc-message": "gone" },
      StatusCode.NOT_FOUND,
      "gone",
    ],
    [
      "another content type",
      { ":status": 200, "content-type": "text/html" },
      StatusCode.UNKNOWN,
      "text/html",
    ],
    [
      "a status out of range",
      { ":status": 200, "content-type": "application/grpc", "grpc-status": "99" },
      StatusCode.UNKNOWN,
      "unknown grpc-status 99",
    ],
    [
      "a broken percent sign",
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": "9",
        "grpc-message": "100%, %zz %E4",
      },
      StatusCode.FAILED_PRECONDITION,
      "100%, %zz",
    ],
    [
      "details that say otherwise",
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": "9",
        "grpc-status-details-bin": "AAAA",
      },
      StatusCode.FAILED_PRECONDITION,
      "",
    ],
  ])("maps %s", async (_, headers, code, text) => {
    const port = await useHttp2((stream) => {
      stream.respond(headers, { endStream: true });
    });
    expect(await useChannel(port).call().closed).toMatchObject({
      code,
      message: expect.stringContaining(text) as string,
    });
  });

  test.each([
    [
      "without a status",
      (stream: ServerHttp2Stream) => {
        stream.respond(answer, { endStream: true });
      },
      StatusCode.INTERNAL,
      "without a status",
    ],
    [
      "by a reset",
      (stream: ServerHttp2Stream) => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      },
      StatusCode.RESOURCE_EXHAUSTED,
      "ENHANCE_YOUR_CALM",
    ],
    [
      "by a rejection",
      (stream: ServerHttp2Stream) => {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      },
      StatusCode.UNAVAILABLE,
      "REFUSED_STREAM",
    ],
    [
      "inside a message",
      (stream: ServerHttp2Stream) => {
        stream.respond(answer);
        stream.end(Buffer.of(0, 0, 0, 0, 9, 1));
      },
      StatusCode.INTERNAL,
      "without a status",
    ],
    [
      "by a broken connection",
      (stream: ServerHttp2Stream) => {
        stream.session?.destroy();
      },
      StatusCode.UNAVAILABLE,
      "lost the connection to localhost:",
    ],
    [
      "by a GOAWAY with an error",
      (stream: ServerHttp2Stream) => {
        stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR);
      },
      StatusCode.UNAVAILABLE,
      "lost the connection to localhost:",
    ],
  ])("tells of a call that ended %s", async (_, onStream, code, text) => {
    const port = await useHttp2(onStream);
    expect(await useChannel(port).call().closed).toMatchObject({
      code,
      message: expect.stringContaining(text) as string,
    });
  });
});

describe("what a server may not do to a client", () => {
  test("send a message above the limit [C-LIM-7]", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port, { limits: { maxMessageBytes: 1000 } });
    const [seen, other] = [call(), call()];
    seen.stream.send(messageOf(Buffer.alloc(1001)));
    expect(await seen.closed).toEqual({
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: "cannot read a message of the server: it is larger than 1000 bytes",
    });
    await server.calls[0]?.closed;
    await echoed(other, "x".repeat(1000));
  });

  test("take memory by lengths alone, nor by many unfinished messages [C-LIM-7]", async () => {
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.write(Buffer.concat([Buffer.of(0, 3, 0, 0, 0), Buffer.alloc(60_000)]));
    });
    const { call } = useChannel(port, { limits: { maxPartialBytes: 200_000 } });
    const calls = Array.from({ length: 4 }, () => call());
    const first = await Promise.race(calls.map(async ({ closed }) => closed));
    expect(first).toEqual({
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: "cannot read a message of the server: too many unfinished messages of the server",
    });
    expect(calls.filter(({ closedTimes }) => closedTimes > 0)).toHaveLength(1);
  });

  test("count against a client what it has long read", async () => {
    const server = await useServer();
    const seen = useChannel(server.port, { limits: { maxPartialBytes: 200_000 } }).call();
    for (let count = 0; count < 5; count++) await echoed(seen, "x".repeat(100_000));
  });

  test.each([
    ["compressed", Buffer.of(1, 0, 0, 0, 1, 0), "it is compressed, which was not offered"],
    ["no message", Buffer.from("<html>"), "it does not begin with the five bytes of gRPC"],
  ])("send what is %s [C-LIM-7]", async (_, bytes, text) => {
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.write(bytes);
    });
    expect(await useChannel(port).call().closed).toEqual({
      code: StatusCode.INTERNAL,
      message: `cannot read a message of the server: ${text}`,
    });
  });

  test("send headers without end [C-LIM-7]", async () => {
    // Compression makes it small: :status 200, x with 3,000 bytes, and the same header again and
    // again.
    const large = [0x40, 1, 0x78, 0x7f, 0xb9, 0x16, ...Buffer.alloc(3000, 0x79)];
    const headers = (again: number): Buffer =>
      frame(1, 5, 1, Buffer.from([0x88, ...large, ...Array<number>(again).fill(0xbe)]));
    const answers = async (again: number): Promise<unknown> => {
      const port = await useTcp((socket) => {
        socket.once("data", () => {
          socket.write(Buffer.concat([frame(4, 0, 0), headers(again)]));
        });
      });
      return useChannel(port).call().closed;
    };
    expect(await answers(10)).toMatchObject({
      message: "the server answered with the content type none, not application/grpc",
    });
    expect(await answers(130)).toEqual({
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: "the server reset the call (ENHANCE_YOUR_CALM)",
    });
  });

  test("send a message in pieces of one byte at the cost of all before them [C-LIM-7]", async () => {
    const size = 20_000;
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      const bytes = messageOf(Buffer.alloc(size, 7)).enveloped;
      let at = 0;
      const next = (): void => {
        if (at < bytes.length) stream.write(bytes.subarray(at, ++at), next);
      };
      next();
    });
    const seen = useChannel(port).call();
    await seen.has(1);
    expect(seen.messages[0]?.length).toBe(size);
  });

  test("fill the memory of a client that does not read: 200 MB wait at the server, and others go on [C-LIM-7]", async () => {
    const [count, big] = [200, messageOf(Buffer.alloc(1 << 20))];
    let sent = 0;
    const pump = (out: ByteStream): void => {
      while (sent < count && ++sent <= count && out.send(big));
    };
    const server = await useServer({
      handler: ({ out }) => ({
        onMessage: (message) => {
          if (message.length > 1) pump(out);
          else out.send(messageOf("y"));
        },
        onDrained: () => {
          pump(out);
        },
      }),
    });
    const { call } = useChannel(server.port);
    const [reader, other] = [call(), call()];
    reader.stream.pause?.();
    reader.stream.send(messageOf("go"));
    for (let round = 0; round < 50; round++) {
      other.stream.send(messageOf("x"));
      await other.has(round + 1);
    }
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(12);
    expect(reader.messages).toHaveLength(0);
    reader.stream.resume?.();
    await reader.has(count);
    expect(sent).toBe(count);
  });

  test("get the client to read on while it rests: messages of one packet come one by one", async () => {
    const port = await useHttp2((stream) => {
      stream.respond(answer, { waitForTrailers: true });
      stream.on("wantTrailers", () => {
        stream.sendTrailers({ "grpc-status": "0" });
      });
      stream.end(Buffer.concat(["a", "b", "c"].map((text) => messageOf(text).enveloped)));
    });
    const { call } = useChannel(port);
    const seen = call({
      onMessage: () => {
        seen.stream.pause?.();
      },
    });
    for (const count of [1, 2, 3]) {
      await seen.has(count);
      expect(seen.messages).toHaveLength(count);
      expect(seen.closedTimes).toBe(0);
      seen.stream.resume?.();
    }
    expect(await seen.closed).toEqual({ code: StatusCode.OK, message: "" });
  });

  test.each(["onMessage", "onDrained", "onClosed"] as const)(
    "make a fault in %s of one handler that of others",
    async (where) => {
      const server = await useServer();
      const { call, events } = useChannel(server.port);
      const other = call();
      const seen = call({
        [where]: () => {
          throw new Error("mine");
        },
      });
      seen.stream.send(messageOf("x"));
      if (where === "onClosed") seen.stream.close({ code: StatusCode.OK, message: "" });
      else
        expect(await seen.closed).toEqual({
          code: StatusCode.INTERNAL,
          message: `the handler of the call failed in ${where}`,
        });
      await echoed(other, "still here");
      expect(events).toContainEqual({
        kind: "fault",
        where: `${where} of ${echoPath}`,
        error: new Error("mine"),
      });
    },
  );
});

describe("a channel and its connection", () => {
  test("shares one connection between 1,000 calls", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port);
    const calls = Array.from({ length: 1000 }, () => call());
    await Promise.all(calls.map(async (seen, index) => echoed(seen, String(index))));
    expect(server.server.stats()).toMatchObject({ connectionsOpened: 1, streams: 1000 });
  });

  test("connects anew with the next call after the connection was lost, and tells of both", async () => {
    const server = await useServer();
    const { call, channel, events } = useChannel(server.port);
    const seen = call();
    await echoed(seen, "x");
    const again = await useServer();
    await server.server.close({ graceMs: 1 });
    expect((await seen.closed).code).toBe(StatusCode.UNAVAILABLE);
    const rejected = await call().closed;
    expect(rejected).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: `cannot connect to ${channel.target}: nothing listens there (ECONNREFUSED); check the port, and that the server runs`,
    });
    expect(channel.connectivity()).toEqual({ state: "transient-failure", status: rejected });
    expect(again.port).not.toBe(server.port);
    const told = events
      .map((event) => event.kind === "connectivity" && event.connectivity.state)
      .filter((state) => state !== "idle");
    expect(told).toEqual(["connecting", "ready", "connecting", "transient-failure"]);
  });

  test("leaves a connection that was told to go to its calls, and opens another one", async () => {
    const sessions = new Set<ServerHttp2Session>();
    const port = await useHttp2((stream) => {
      if (stream.session !== undefined) sessions.add(stream.session as ServerHttp2Session);
      stream.respond(answer);
      stream.pipe(stream);
      if (sessions.size === 1) stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
    });
    const { call, channel } = useChannel(port);
    const first = call();
    await echoed(first, "x");
    const second = call();
    await echoed(second, "y");
    await echoed(first, "still here");
    expect(sessions.size).toBe(2);
    first.stream.close({ code: StatusCode.OK, message: "" });
    const [old] = sessions;
    if (old?.destroyed === false) await once(old, "close");
    await echoed(second, "z");
    expect(channel.connectivity()).toEqual({ state: "ready" });
  });

  test("is idle, and no failure, when a connection without calls is told to go", async () => {
    const server = await useServer();
    const { promise: idle, resolve: wake }: PromiseWithResolvers<void> = Promise.withResolvers();
    const { call, channel } = useChannel(server.port, {
      onEvent: (event) => {
        if (
          event.kind === "connectivity" &&
          ["idle", "transient-failure"].includes(event.connectivity.state)
        )
          wake();
      },
    });
    const seen = call();
    await echoed(seen, "x");
    seen.stream.close({ code: StatusCode.OK, message: "" });
    await seen.closed;
    await server.server.close();
    await idle;
    expect(channel.connectivity()).toEqual({ state: "idle" });
  });

  test("lets a server send 8 MiB ahead on a call and 16 MiB on a connection, and push nothing", async () => {
    const told: unknown[] = [];
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.pipe(stream);
      stream.once("data", () => {
        told.push(
          stream.session?.state.remoteWindowSize,
          stream.session?.remoteSettings.initialWindowSize,
          stream.session?.remoteSettings.enablePush,
        );
      });
    });
    await echoed(useChannel(port).call(), "x");
    expect(told).toEqual([16 << 20, 8 << 20, false]);
  });

  test("sends a request of 20 MB, as one with 100,000 long names is", async () => {
    const server = await useServer({
      limits: { maxMessageBytes: 32 << 20 },
      handler: ({ out }) => ({
        onMessage: (message) => {
          out.send(messageOf(String(message.length)));
        },
      }),
    });
    const seen = useChannel(server.port).call();
    seen.stream.send(messageOf(Buffer.alloc(20 << 20)));
    await seen.has(1);
    expect(seen.messages.map(String)).toEqual([String(20 << 20)]);
  });

  test("goes on with other calls while one has 50 MB waiting for a server that does not read", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port);
    const seen = call();
    await echoed(seen, "x");
    server.calls[0]?.out.pause?.();
    const big = messageOf(Buffer.alloc(1 << 20));
    for (let count = 0; count < 50; count++) seen.stream.send(big);
    for (const text of ["a", "b"]) await echoed(call(), text);
    seen.stream.close({ code: StatusCode.CANCELLED, message: "" });
  });

  test("gives up a message that stops half-way, 60 s after its last byte; one that comes whole has no timer [C-LIM-7]", async () => {
    const clock = createFakeClock();
    const streams: ServerHttp2Stream[] = [];
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      streams.push(stream);
      stream.write(messageOf("hello").enveloped);
    });
    const { call } = useChannel(port, { clock });
    const [stuck, other] = [call(), call()];
    await stuck.has(1);
    await other.has(1);
    expect(clock.pending).toBe(0);
    const half = messageOf("whole, and half of one").enveloped;
    let known = 1;
    const arrived = async (bytes: Uint8Array): Promise<void> => {
      await new Promise((resolve) => {
        streams[0]?.write(bytes, resolve);
      });
      streams[1]?.write(messageOf("behind it").enveloped);
      await other.has(++known);
    };
    await arrived(half.subarray(0, 3));
    clock.advance(59_999);
    await arrived(half.subarray(3, 10));
    clock.advance(59_999);
    await arrived(Buffer.concat([half.subarray(10), half.subarray(0, 9)]));
    expect([stuck.messages.length, clock.pending, stuck.closedTimes]).toEqual([2, 1, 0]);
    clock.advance(59_999);
    expect(stuck.closedTimes).toBe(0);
    clock.advance(1);
    expect(await stuck.closed).toEqual({
      code: StatusCode.DEADLINE_EXCEEDED,
      message: "the server has begun a message and sent nothing more of it for 60 s",
    });
    expect([clock.pending, other.closedTimes]).toEqual([0, 0]);
    other.stream.close({ code: StatusCode.CANCELLED, message: "" });
    await other.closed;
  });

  test("does not blame the server for half a message while it reads nothing itself", async () => {
    const clock = createFakeClock();
    const half = messageOf("world").enveloped;
    const streams: ServerHttp2Stream[] = [];
    const port = await useHttp2((stream) => {
      streams.push(stream);
      stream.respond(answer);
      stream.write(Buffer.concat([messageOf("hello").enveloped, half.subarray(0, 7)]));
    });
    const seen = useChannel(port, { clock }).call();
    await seen.has(1);
    expect(clock.pending).toBe(1);
    seen.stream.pause?.();
    clock.advance(1_000_000);
    expect(clock.pending).toBe(0);
    seen.stream.resume?.();
    expect(clock.pending).toBe(1);
    streams[0]?.write(Buffer.concat([half.subarray(7), half.subarray(0, 7)]));
    await seen.has(2);
    clock.advance(60_000);
    expect((await seen.closed).code).toBe(StatusCode.DEADLINE_EXCEEDED);
    expect(clock.pending).toBe(0);
  });

  test("gives up a server that takes the connection and never answers", async () => {
    const clock = createFakeClock();
    const taken: Socket[] = [];
    const port = await useTcp((socket) => {
      taken.push(socket);
      socket.once("data", () => {
        clock.advance(20_000);
      });
    });
    const seen = useChannel(port, { clock }).call();
    expect(await seen.closed).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: `cannot connect to localhost:${port}: no answer within 20 s (ETIMEDOUT); check the address and the firewall`,
    });
    expect(clock.pending).toBe(0);
  });

  test("gives up a server that goes silent, by a ping that nobody answers", async () => {
    const port = await useTcp((socket) => {
      // The server sends SETTINGS, and nothing more.
      socket.write(Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0));
      socket.resume();
    });
    const { call, channel } = useChannel(port, { limits: { pingMs: 20, pingTimeoutMs: 20 } });
    expect(await call().closed).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: `lost the connection to localhost:${port}: PING timed out`,
    });
    expect(channel.connectivity()).toMatchObject({ state: "transient-failure" });
  });

  test("takes any bytes of the server for life while a request is on its way: the answer to a ping waits behind it", async () => {
    const updates = 12;
    let sent = 0;
    const port = await useTcp((socket) => {
      socket.write(Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0));
      socket.resume();
      const timer = setInterval(() => {
        sent += 1;
        if (sent === updates) clearInterval(timer);
        socket.write(Buffer.of(0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1));
      }, 150);
      socket.on("close", () => {
        clearInterval(timer);
      });
    });
    const { call } = useChannel(port, { limits: { pingMs: 600, pingTimeoutMs: 600 } });
    expect(await call().closed).toMatchObject({
      message: `lost the connection to localhost:${port}: PING timed out`,
    });
    expect(sent).toBe(updates);
  });

  test.each([
    [
      "resets at once",
      (socket: Socket) => {
        socket.resetAndDestroy();
      },
    ],
    [
      "closes at once",
      (socket: Socket) => {
        socket.end();
      },
    ],
    [
      "speaks HTTP/1.1",
      (socket: Socket) => {
        socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
      },
    ],
    [
      "speaks garbage",
      (socket: Socket) => {
        socket.write(Buffer.alloc(100, 0xff));
      },
    ],
    [
      "speaks TLS",
      (socket: Socket) => {
        socket.end(Buffer.of(0x15, 3, 1, 0, 2, 2, 70));
      },
    ],
  ])("tells of a server that %s", async (_, onSocket) => {
    const port = await useTcp(onSocket);
    const { code, message } = await useChannel(port).call().closed;
    expect(code).toBe(StatusCode.UNAVAILABLE);
    expect(message).toMatch(
      /^cannot connect to localhost:\d+: no HTTP\/2 came of it \(.+\); does it speak gRPC, and want TLS\?$/,
    );
    expect(message.length).toBeLessThan(160);
  });

  test(`survives ${scaled(10_000)} servers that send garbage and break off [C-LIM-7]`, async () => {
    const seed = seedOf();
    const random = createRandom(seed);
    const settings = frame(4, 0, 0);
    const garbage = (): Buffer =>
      Buffer.from(Array.from({ length: random(64) }, () => random(256)));
    const port = await useTcp((socket) => {
      if (random(4) > 0) socket.write(settings);
      socket.on("data", () => {
        const id = [0, 1, 1, 1, 2, 3][random(6)] ?? 1;
        if (random(3) > 0) socket.write(frame(random(11), random(256), id, garbage()));
        if (random(3) === 0) socket.write(frame(7, 0, 0, Buffer.alloc(8)));
        if (random(3) === 0) socket.write(garbage());
        if (random(2) === 0) socket.resetAndDestroy();
        else socket.end();
      });
    });
    const { call } = useChannel(port);
    for (let round = 0; round < scaled(10_000); round++) {
      const calls = Array.from({ length: 1 + random(3) }, () => call());
      for (const one of calls) one.stream.send(messageOf("x"));
      if (random(8) === 0) calls[0]?.stream.pause?.();
      if (random(8) === 0) calls[0]?.stream.close({ code: random(2), message: "" });
      const statuses = await Promise.all(calls.map(async ({ closed }) => closed));
      expect({ seed, codes: statuses.filter(({ code }) => code < 0 || code > 16) }).toEqual({
        seed,
        codes: [],
      });
    }
  });

  test.each([
    [
      "DNS does not know",
      "ENOTFOUND",
      "DNS does not know no-such-host.invalid (ENOTFOUND); check the name",
    ],
    [
      "DNS cannot answer for now",
      "EAI_AGAIN",
      "DNS does not answer for no-such-host.invalid (EAI_AGAIN); check the name servers of this machine",
    ],
  ])("reports a name that %s", async (_title, code, reason) => {
    vi.spyOn(dns, "lookup").mockImplementation(((
      host: string,
      _: unknown,
      callback: (error: Error) => void,
    ) => {
      setImmediate(callback, Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code }));
    }) as never);
    const { message } = await useChannel("no-such-host.invalid:1").call().closed;
    expect(message).toBe(`cannot connect to no-such-host.invalid:1: ${reason}`);
  });

  test("reports a name for which DNS never answers, and connects once it does", async () => {
    const clock = createFakeClock();
    const { port } = await useServer();
    const lookup = vi.spyOn(dns, "lookup").mockImplementation(() => {
      setImmediate(() => {
        clock.advance(20_000);
      });
    });
    const channel = useChannel(`name.test:${port}`, { clock });
    expect((await channel.call().closed).message).toBe(
      `cannot connect to name.test:${port}: DNS does not answer for name.test (EAI_AGAIN); check the name servers of this machine`,
    );
    lookup.mockImplementation(((
      _host: string,
      options: { readonly all?: boolean },
      callback: (error: null, ...found: readonly unknown[]) => void,
    ) => {
      setImmediate(() => {
        if (options.all === true) callback(null, [{ address: "127.0.0.1", family: 4 }]);
        else callback(null, "127.0.0.1", 4);
      });
    }) as never);
    await echoed(channel.call(), "x");
  });

  test("goes over a socket in the file system", async () => {
    const folder = mkdtempSync(join(tmpdir(), "xdstp-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const path = join(folder, "s");
    const authorities: unknown[] = [];
    await useHttp2((stream) => {
      stream.respond(answer);
      stream.pipe(stream);
      stream.once("data", () => {
        authorities.push(stream.sentHeaders[":status"]);
      });
    }, path);
    for (const target of [`unix:${path}`, `unix://${path}`])
      await echoed(useChannel(target).call(), "x");
    expect(authorities).toEqual([200, 200]);
    const { message } = await useChannel(`unix:${path}2`).call().closed;
    expect(message).toBe(
      `cannot connect to unix:${path}2: the socket does not exist (ENOENT); check the path, and that the server runs`,
    );
  });
});

describe("onOpened", () => {
  test("is called once the server is reached, and never where it cannot be", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port);
    const told: string[] = [];
    const seen = call({
      onOpened: () => {
        told.push("opened");
      },
      onDrained: () => {
        told.push("drained");
      },
    });
    expect(seen.stream.opening).toBe(true);
    await echoed(seen, "x");
    expect([told, seen.stream.opening]).toEqual([["opened", "drained"], false]);
    const lost = useChannel(1).call({
      onOpened: () => {
        told.push("never");
      },
    });
    expect((await lost.closed).code).toBe(StatusCode.UNAVAILABLE);
    expect([told.includes("never"), lost.stream.opening]).toEqual([false, false]);
  });
});

describe("close()", () => {
  test("ends calls in order, then the connection", async () => {
    const server = await useServer();
    const { call, channel } = useChannel(server.port);
    const seen = call();
    await echoed(seen, "x");
    seen.stream.send(messageOf("last"));
    await channel.close();
    expect(await seen.closed).toEqual({
      code: StatusCode.CANCELLED,
      message: "the channel was closed",
    });
    expect(await server.calls[0]?.closed).toEqual({ code: StatusCode.OK, message: "" });
    expect(server.calls[0]?.messages.map(String)).toEqual(["x", "last"]);
    await server.event("connection-closed");
    expect(channel.connectivity()).toEqual({ state: "shutdown" });
    expect(() =>
      channel.open({ path: echoPath }, { onMessage: fail, onDrained: fail, onClosed: fail }),
    ).toThrow(`[FAILED_PRECONDITION] the channel to ${channel.target} is closed`);
  });

  test("resets no call that the server ends, however long it takes", async () => {
    const resets: number[] = [];
    const port = await useHttp2((stream) => {
      stream.respond(answer, { waitForTrailers: true });
      stream.write(messageOf("x").enveloped);
      stream.on("wantTrailers", () => {
        stream.sendTrailers({ "grpc-status": "0" });
      });
      stream
        .on("end", () => {
          setImmediate(() => {
            stream.end();
          });
        })
        .resume();
      stream.on("close", () => {
        resets.push(stream.rstCode);
      });
    });
    const { call, channel } = useChannel(port);
    await call().has(1);
    await channel.close();
    expect(resets).toEqual([constants.NGHTTP2_NO_ERROR]);
  });

  test("ends while connecting, of a call and of the channel", async () => {
    const port = await useTcp(() => {
      /* never answers */
    });
    const { call, channel } = useChannel(port);
    const [first, second] = [call(), call()];
    first.stream.send(messageOf("x"));
    first.stream.close({ code: StatusCode.OK, message: "" });
    expect(first.closedTimes).toBe(0);
    expect((await first.closed).code).toBe(StatusCode.OK);
    expect(second.closedTimes).toBe(0);
    await channel.close();
    expect((await second.closed).code).toBe(StatusCode.CANCELLED);
  });

  test("leaves nothing open at the server of a call that ended before there was a connection", async () => {
    const server = await useServer();
    const { call } = useChannel(server.port);
    call().stream.close({ code: StatusCode.OK, message: "" });
    await server.event("stream-closed");
  });

  test("ends from within an event, at whatever moment", async () => {
    const server = await useServer();
    for (const state of ["connecting", "ready"]) {
      const wire = useChannel(server.port, {
        onEvent: (event) => {
          if (event.kind === "connectivity" && event.connectivity.state === state)
            void wire.channel.close();
        },
      });
      expect(await wire.call().closed).toEqual({
        code: StatusCode.CANCELLED,
        message: "the channel was closed",
      });
      await wire.channel.close();
    }
  });

  test("closes a channel that nobody used", async () => {
    await using channel = createGrpcChannel({ target: "localhost:1" });
    expect(channel.connectivity()).toEqual({ state: "idle" });
  });
});

describe("createGrpcChannel() with grpc-js as the server", () => {
  async function useGrpcJs(
    handle: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => void,
  ): Promise<TestChannel> {
    const server = new grpc.Server();
    const same = (bytes: Buffer): Buffer => bytes;
    server.addService(
      {
        stream: {
          path: echoPath,
          requestStream: true,
          responseStream: true,
          requestSerialize: same,
          requestDeserialize: same,
          responseSerialize: same,
          responseDeserialize: same,
        },
      },
      { stream: handle },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    onTestFinished(() => {
      server.forceShutdown();
    });
    return useChannel(port);
  }

  test("carries messages, and ends in order", async () => {
    const { call } = await useGrpcJs((stream) => {
      stream
        .on("data", (bytes: Buffer) => {
          stream.write(bytes);
        })
        .on("end", () => {
          stream.end();
        });
    });
    const seen = call();
    for (const size of [0, 1, 16_384, 3_000_000]) await echoed(seen, "x".repeat(size));
    seen.stream.close({ code: StatusCode.OK, message: "" });
    expect((await seen.closed).code).toBe(StatusCode.OK);
  });

  test("tells its status", async () => {
    const { call } = await useGrpcJs((stream) => {
      stream.emit("error", { code: grpc.status.RESOURCE_EXHAUSTED, details: "zu groß" });
    });
    expect(await call().closed).toEqual({
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: "zu groß",
    });
  });
});

function fail(): never {
  throw new Error("must not be called");
}
