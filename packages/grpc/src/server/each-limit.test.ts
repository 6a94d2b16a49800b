import { constants } from "node:http2";
import { once } from "node:events";
import { create, createFileRegistry } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  StringValueSchema,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { http1Request, useHttp1 } from "../../test/http1-client.ts";
import { type RawClient, type RawClientCall, enveloped } from "../../test/raw-client.ts";
import { useRawCall } from "../../test/raw-call.ts";
import { frame, headerBlock, preface, received, useSocket } from "../../test/raw-socket.ts";
import {
  echoPath,
  messageOf,
  type SeenCall,
  type TestServer,
  type TestServerOptions,
  useServer,
} from "../../test/use-server.ts";
import { defaultGrpcLimits, type GrpcLimits } from "./grpc-limits.ts";
import type { MethodRouter } from "./method-router.ts";

/** A limit, and a result that depends on its value. */
interface Row {
  readonly limit: keyof GrpcLimits;
  readonly value: number;
  /** Other limits that are needed so that the limit is reached. */
  readonly with?: Partial<GrpcLimits>;
  readonly options?: TestServerOptions;
  /** Returns the result. */
  readonly act: (server: TestServer) => Promise<unknown>;
  /** The results with this value and with the default. */
  readonly seen: readonly [limited: unknown, usual: unknown];
}

const most = 0x7fff_ffff;
const noPings = { pingMs: most };

const cuts = (server: TestServer): unknown => server.server.stats().cuts;

/** Resolves with the echo, or with the status of the call. */
async function outcome(call: RawClientCall): Promise<string | undefined> {
  return Promise.race([
    call.next().then(String),
    call.result.then(({ trailers }) => trailers["grpc-status"] as string | undefined),
  ]);
}

async function echoed(client: RawClient, ...texts: readonly string[]): Promise<readonly unknown[]> {
  const call = client.call(echoPath);
  const all: unknown[] = [];
  for (const text of texts) {
    call.stream.write(enveloped(text));
    all.push(await outcome(call));
  }
  return all;
}

/** Opens a second connection. Returns the cuts after that connection was served or closed. */
async function secondConnection(server: TestServer): Promise<unknown> {
  await server.client();
  const socket = await useSocket(server.port);
  socket.write(preface + frame(4, 0, 0).toString("latin1"), "latin1");
  await Promise.race([once(socket, "close"), once(socket, "data")]);
  return cuts(server);
}

async function secondStream(server: TestServer): Promise<unknown> {
  const client = await server.client();
  return [...(await echoed(client, "x")), ...(await echoed(client, "y"))];
}

/** Opens a call with the beginning of a message, which the server has read. */
async function begun(server: TestServer): Promise<{ client: RawClient; call: RawClientCall }> {
  const client = await server.client();
  const call = client.call(echoPath);
  call.stream.write(enveloped(Buffer.alloc(200_000)).subarray(0, 1_000));
  await client.roundTrip();
  await client.roundTrip();
  return { client, call };
}

/** Sends two megabytes to a client that does not read. */
const largeAnswers: TestServerOptions = {
  handler: ({ out }: SeenCall) => ({
    onMessage() {
      for (let count = 0; count < 2; count++) out.send(messageOf(Buffer.alloc(1_000_000)));
    },
  }),
};

async function notReading(server: TestServer): Promise<RawClient> {
  const client = await server.client();
  const call = client.call(echoPath);
  call.stream.pause();
  call.stream.write(enveloped("x"));
  for (let count = 0; count < 3; count++) await client.roundTrip();
  return client;
}

/** Defines the service `test.Unary` with the method Say, which never answers. */
function silentRoutes(router: MethodRouter): void {
  const text = ".google.protobuf.StringValue";
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto"],
    service: [{ name: "Unary", method: [{ name: "Say", inputType: text, outputType: text }] }],
  });
  const service = createFileRegistry(
    create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] }),
  ).getService("test.Unary");
  if (service === undefined) throw new Error("no service");
  router.service(service, {
    say: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      await once(signal, "abort");
      return create(StringValueSchema, {});
    },
  } as never);
}

const rows: readonly Row[] = [
  {
    limit: "maxConnections",
    value: 1,
    act: secondConnection,
    seen: [{ "too-many-connections": 1 }, {}],
  },
  {
    limit: "maxConnectionsPerPeer",
    value: 1,
    act: secondConnection,
    seen: [{ "too-many-connections": 1 }, {}],
  },
  {
    limit: "maxStreams",
    value: 1,
    act: secondStream,
    seen: [
      ["x", "8"],
      ["x", "y"],
    ],
  },
  {
    limit: "maxStreamsPerPeer",
    value: 1,
    act: secondStream,
    seen: [
      ["x", "8"],
      ["x", "y"],
    ],
  },
  {
    limit: "maxStreamsPerConnection",
    value: 1,
    act: async (server) => (await server.client()).session.remoteSettings.maxConcurrentStreams,
    seen: [1, 5_000],
  },
  {
    limit: "maxCallsPerConnection",
    value: 1,
    options: { routes: silentRoutes },
    async act(server) {
      const client = await server.client();
      for (let count = 0; count < 2; count++)
        client.call("/test.Unary/Say").stream.end(enveloped(""));
      await client.roundTrip();
      await client.roundTrip();
      return [cuts(server), server.server.stats().calls];
    },
    seen: [
      [{ "too-many-calls": 1 }, 1],
      [{}, 2],
    ],
  },
  {
    limit: "maxMessageBytes",
    value: 1,
    act: async (server) => echoed(await server.client(), "x", "yy"),
    seen: [
      ["x", "8"],
      ["x", "yy"],
    ],
  },
  {
    limit: "maxFirstMessageBytes",
    value: 1,
    with: { maxMessageBytes: 1 },
    options: { handler: () => ({ admits: () => true }) },
    act: async (server) => echoed(await server.client(), "yy"),
    seen: [["8"], ["yy"]],
  },
  {
    limit: "maxPartialBytes",
    value: 1,
    async act(server) {
      await begun(server);
      return cuts(server);
    },
    seen: [{ "partial-bytes": 1 }, {}],
  },
  {
    limit: "maxQueuedBytes",
    value: 1,
    options: largeAnswers,
    async act(server) {
      await notReading(server);
      return cuts(server);
    },
    seen: [{ "queued-bytes": 1 }, {}],
  },
  {
    limit: "headerListBytes",
    value: 500,
    async act(server) {
      const call = (await server.client()).call(echoPath, { x: "y".repeat(500) });
      call.stream.write(enveloped("x"));
      return outcome(call);
    },
    seen: ["8", "x"],
  },
  {
    limit: "firstMessageMs",
    value: 1,
    async act(server) {
      await (await server.client()).roundTrip();
      server.clock.advance(1);
      server.clock.advance(1);
      return cuts(server);
    },
    seen: [{ silent: 1 }, {}],
  },
  {
    limit: "messageMs",
    value: 1,
    async act(server) {
      await begun(server);
      server.clock.advance(1);
      server.clock.advance(1);
      return cuts(server);
    },
    seen: [{ "slow-message": 1 }, {}],
  },
  {
    limit: "stalledMs",
    value: 1,
    with: noPings,
    options: largeAnswers,
    async act(server) {
      await notReading(server);
      server.clock.advance(1);
      server.clock.advance(1);
      return cuts(server);
    },
    seen: [{ "not-reading": 1 }, {}],
  },
  {
    limit: "minBytesPerSecond",
    value: most,
    with: noPings,
    async act(server) {
      const { client, call } = await begun(server);
      call.stream.write(Buffer.alloc(20_000));
      await client.roundTrip();
      server.clock.advance(30_000);
      return cuts(server);
    },
    seen: [{ "slow-message": 1 }, {}],
  },
  {
    limit: "httpIdleMs",
    value: 1_000,
    options: {
      http: [
        (_request, response) => {
          response.end("ok");
          return true;
        },
      ],
    },
    async act(server) {
      const client = await useHttp1(server.port, http1Request("/1"));
      await client.received("ok");
      server.clock.advance(1_000);
      client.socket.write(http1Request("/2"));
      return Promise.race([
        client.closed.then(() => "closed"),
        client.received("ok", 2).then(() => "served"),
      ]);
    },
    seen: ["closed", "served"],
  },
  {
    limit: "pingMs",
    value: 1,
    async act(server) {
      const client = await server.client();
      let pings = 0;
      client.session.on("ping", () => (pings += 1));
      await echoed(client, "x");
      server.clock.advance(1);
      await client.roundTrip();
      return pings;
    },
    seen: [1, 0],
  },
  {
    limit: "pingTimeoutMs",
    value: 1,
    async act(server) {
      await useRawCall(server.port);
      server.clock.advance(30_000);
      server.clock.advance(1);
      server.clock.advance(1);
      return cuts(server);
    },
    seen: [{ "ping-timeout": 1 }, {}],
  },
  {
    limit: "minPingIntervalMs",
    value: most,
    with: { firstMessageMs: most, ...noPings },
    async act(server) {
      const client = await server.client();
      for (let count = 0; count < 10 && !client.session.destroyed; count++) {
        await Promise.race([client.roundTrip(), client.closed]);
        server.clock.advance(1_000);
      }
      return cuts(server);
    },
    seen: [{ "ping-flood": 1 }, {}],
  },
  {
    limit: "goawayGraceMs",
    value: 1,
    with: noPings,
    async act(server) {
      const { socket } = await useRawCall(server.port);
      socket.write(frame(7, 0, 0, Buffer.alloc(8)));
      await received(socket, frame(4, 0, 0));
      for (let count = 0; count < 2; count++) server.clock.advance(1);
      return cuts(server);
    },
    seen: [{ "goaway-grace": 1 }, {}],
  },
  {
    limit: "emptyBytes",
    value: 1,
    async act(server) {
      const { socket } = await useRawCall(server.port);
      socket.write(frame(3, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])));
      for (let count = 0; count < 10_000; count++)
        socket.write(frame(8, 0, 0, Buffer.from([0, 0, 0, 1])));
      socket.write(
        Buffer.concat([frame(1, 4, 3, headerBlock(echoPath)), frame(0, 0, 3, enveloped("marker"))]),
      );
      await received(socket, enveloped("marker"));
      server.clock.advance(1_000);
      return cuts(server);
    },
    seen: [{ "no-content": 1 }, {}],
  },
  {
    limit: "rejectedCalls",
    value: 1,
    async act(server) {
      const client = await server.client();
      // The server may have closed the connection before the last call.
      for (let count = 0; count < 3 && !client.session.destroyed; count++)
        await Promise.race([client.call("/no.Such/Method").result, client.closed]);
      return cuts(server);
    },
    seen: [{ "rejected-calls": 1 }, {}],
  },
];

describe("each limit of createGrpcServer()", () => {
  test.each(rows)("$limit: acts with $value, and not so by default", async (row) => {
    const seenWith = async (limits: Partial<GrpcLimits>): Promise<unknown> =>
      row.act(await useServer({ ...row.options, limits: { ...row.with, ...limits } }));
    expect([await seenWith({ [row.limit]: row.value }), await seenWith({})]).toEqual(row.seen);
  });

  test("is in this table", () => {
    expect(rows.map(({ limit }) => limit).toSorted()).toEqual(
      Object.keys(defaultGrpcLimits).toSorted(),
    );
  });
});
