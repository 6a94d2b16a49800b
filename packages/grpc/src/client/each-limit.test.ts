import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { frame } from "../../test/raw-socket.ts";
import { type ClientSeen, type TestChannel, useChannel } from "../../test/use-channel.ts";
import { messageOf, useServer } from "../../test/use-server.ts";
import { type ChannelLimits, defaultChannelLimits } from "./channel-context.ts";

/** A limit, and a result that depends on its value. */
interface Row {
  readonly limit: keyof ChannelLimits;
  readonly value: number;
  /** Other limits that are needed so that the limit is reached. */
  readonly with?: Partial<ChannelLimits>;
  /** Returns the result with a channel that `open` opens. */
  readonly act: (open: Open) => Promise<unknown>;
  /** The results with this value and with the default. */
  readonly seen: readonly [limited: unknown, usual: unknown];
}

interface Open {
  (port: number): TestChannel;
  readonly clock: FakeClock;
}

/** Starts a TCP server with one connection. */
async function useTcp(): Promise<{ readonly port: number; readonly socket: Promise<Socket> }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const socket = once(server, "connection").then(([one]) => one as Socket);
  return { port: (server.address() as AddressInfo).port, socket };
}

/** Starts an HTTP/2 server with one call, which it leaves open. */
async function useHttp2(): Promise<{
  readonly port: number;
  readonly stream: Promise<ServerHttp2Stream>;
}> {
  const server = createHttp2Server();
  server.on("session", (session) => {
    onTestFinished(() => {
      session.destroy();
    });
  });
  const stream = once(server, "stream").then(([one]) => {
    const call = one as ServerHttp2Stream;
    call.on("error", () => undefined);
    call.respond({ ":status": 200, "content-type": "application/grpc" });
    return call;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, stream };
}

/**
 * Resolves when the client has read what was sent before, and the server has read what the client
 * sent.
 */
async function roundTrip({ session }: ServerHttp2Stream): Promise<void> {
  await new Promise<void>((resolve) => {
    session?.ping(() => {
      resolve();
    });
  });
}

/** Returns the length of the first message, or the code with which the call ended. */
async function echoed(open: Open, bytes: number): Promise<unknown> {
  const { port } = await useServer();
  const call = open(port).call();
  call.stream.send(messageOf(Buffer.alloc(bytes)));
  return Promise.race([
    call.has(1).then(() => call.messages[0]?.length),
    call.closed.then(({ code }) => `code ${code}`),
  ]);
}

/** Returns the code with which a call ended, once all that is due has happened. */
async function endOf({ closed }: ClientSeen): Promise<number | undefined> {
  return Promise.race([
    closed.then(({ code }) => code),
    new Promise<undefined>((resolve) => {
      setImmediate(() => {
        setImmediate(resolve, undefined);
      });
    }),
  ]);
}

/**
 * Sends messages to a server that never answers, until `over` is settled or 500 messages have
 * arrived.
 */
async function talk(
  call: ClientSeen,
  socket: Socket,
  over: Promise<string>,
): Promise<string | undefined> {
  for (let count = 0; count < 500; count++) {
    const arrived = once(socket, "data");
    call.stream.send(messageOf("x"));
    const end = await Promise.race([over, arrived.then(() => undefined)]);
    if (end !== undefined) return end;
  }
  return undefined;
}

/** Writes to a socket what an HTTP/2 server sends first, and nothing more. */
async function silent(socket: Promise<Socket>): Promise<Socket> {
  const one = await socket;
  one.write(frame(4, 0, 0));
  await once(one, "data");
  return one;
}

async function pinged(socket: Socket): Promise<string> {
  for (;;) {
    const [bytes] = (await once(socket, "data")) as [Buffer];
    if (bytes.includes(frame(6, 0, 0, Buffer.alloc(8)).subarray(0, 4))) return "a ping";
  }
}

const rows: readonly Row[] = [
  { limit: "maxMessageBytes", value: 1, act: async (open) => echoed(open, 2), seen: ["code 8", 2] },
  {
    limit: "maxPartialBytes",
    value: 1,
    act: async (open) => echoed(open, 200_000),
    seen: ["code 8", 200_000],
  },
  {
    limit: "windowBytes",
    value: 100_000,
    async act(open) {
      const { port, stream } = await useHttp2();
      open(port).call();
      const call = await stream;
      await roundTrip(call);
      return call.session?.remoteSettings.initialWindowSize;
    },
    seen: [100_000, defaultChannelLimits.windowBytes],
  },
  {
    limit: "stalledMs",
    value: 1,
    async act(open) {
      const { port, stream } = await useHttp2();
      const call = open(port).call();
      const served = await stream;
      served.write(enveloped("abc").subarray(0, 6));
      await roundTrip(served);
      for (let count = 0; count < 3; count++) open.clock.advance(1);
      return endOf(call);
    },
    seen: [4, undefined],
  },
  {
    limit: "connectMs",
    value: 1,
    async act(open) {
      const { port, socket } = await useTcp();
      const call = open(port).call();
      await socket;
      open.clock.advance(1);
      return endOf(call);
    },
    seen: [14, undefined],
  },
  {
    limit: "pingMs",
    value: 1,
    async act(open) {
      const { port, socket } = await useTcp();
      const call = open(port).call();
      const served = await silent(socket);
      return talk(call, served, pinged(served));
    },
    seen: ["a ping", undefined],
  },
  {
    limit: "pingTimeoutMs",
    value: 1,
    with: { pingMs: 1 },
    async act(open) {
      const { port, socket } = await useTcp();
      const call = open(port).call();
      const served = await silent(socket);
      return talk(
        call,
        served,
        call.closed.then(({ message }) => message.replace(/.*: /, "")),
      );
    },
    seen: ["PING timed out", undefined],
  },
  {
    limit: "closeGraceMs",
    value: 1,
    async act(open) {
      const { port, stream } = await useHttp2();
      const call = open(port).call();
      const served = await stream;
      served.resume();
      await roundTrip(served);
      call.stream.close({ code: 0, message: "" });
      await once(served, "end");
      open.clock.advance(1);
      await roundTrip(served);
      return served.closed;
    },
    seen: [true, false],
  },
];

describe("each limit of createGrpcChannel()", () => {
  test.each(rows)("$limit: acts with $value, and not so by default", async (row) => {
    const seenWith = async (limits: Partial<ChannelLimits>): Promise<unknown> => {
      const clock = createFakeClock();
      const open = (port: number): TestChannel =>
        useChannel(port, { clock, limits: { ...row.with, ...limits } });
      return row.act(Object.assign(open, { clock }));
    };
    expect([await seenWith({ [row.limit]: row.value }), await seenWith({})]).toEqual(row.seen);
  });

  test("is in this table", () => {
    expect(rows.map(({ limit }) => limit).toSorted()).toEqual(
      Object.keys(defaultChannelLimits).toSorted(),
    );
  });
});
