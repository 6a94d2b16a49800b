import { create, createFileRegistry, type DescService } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  StringValueSchema,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { XdsError } from "@xdstp/core";
import { createTestAuthority } from "@xdstp/testing";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { echoPath, useServer, type TestServer } from "../../test/use-server.ts";
import type { CallPeer, MethodCall, MethodRouter } from "./method-router.ts";

/**
 * Defines
 * `service test.Unary { rpc Say(StringValue) returns (StringValue); rpc Count(...) returns (stream ...); }`
 * without generated code.
 */
function describeService(): DescService {
  const text = ".google.protobuf.StringValue";
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto"],
    service: [
      {
        name: "Unary",
        method: [
          { name: "Say", inputType: text, outputType: text },
          {
            name: "Chat",
            inputType: text,
            outputType: text,
            clientStreaming: true,
            serverStreaming: true,
          },
        ],
      },
    ],
  });
  const service = createFileRegistry(
    create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] }),
  ).getService("test.Unary");
  if (service === undefined) throw new Error("no service");
  return service;
}

const service = describeService();
const sayPath = "/test.Unary/Say";

interface Say {
  say(request: { value: string }): Promise<{ value: string }>;
}

function routes(
  say: (text: string, signal: AbortSignal, peer: CallPeer) => string | Promise<string>,
): (router: MethodRouter) => void {
  return (router) => {
    router.service(service, {
      say: async (request: { value: string }, context: MethodCall) =>
        create(StringValueSchema, {
          value: await say(request.value, context.signal, context.peer),
        }),
      async *chat(requests: AsyncIterable<{ value: string }>) {
        for await (const { value } of requests) {
          if (value === "bug") throw new TypeError("secret of the bug");
          yield create(StringValueSchema, { value });
        }
      },
    } as never);
  };
}

function sayClient(
  server: TestServer,
  make: typeof createGrpcTransport = createGrpcTransport,
): Say {
  return createClient(
    service,
    make({
      baseUrl: `http://127.0.0.1:${server.port}`,
      ...{ httpVersion: "2" },
      idleConnectionTimeoutMs: 1,
    }),
  ) as unknown as Say;
}

/** Returns a StringValue with a short text. */
function stringValue(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x0a, text.length]), Buffer.from(text)]);
}

describe("createConnectRoutes()", () => {
  test.for([
    ["gRPC", createGrpcTransport],
    ["gRPC-web", createGrpcWebTransport],
    ["Connect", createConnectTransport],
  ] as const)("serves unary calls over %s beside raw streams on one port", async ([, make]) => {
    const server = await useServer({ routes: routes((text) => text.toUpperCase()) });
    const raw = (await server.client()).call(echoPath);
    raw.stream.write(enveloped("raw"));
    expect((await raw.next()).toString()).toBe("raw");
    expect(
      (await sayClient(server, make as typeof createGrpcTransport).say({ value: "unary" })).value,
    ).toBe("UNARY");
    expect(server.server.stats()).toMatchObject({ callsOpened: 1, streamsOpened: 1 });
    raw.stream.close();
  });

  test("tells handlers who calls: address and, with a verified certificate, identity [S-NODE-8]", async () => {
    const authority = createTestAuthority();
    const ca = authority.cert;
    const tls = { ...authority.issue({ name: "server", dnsNames: ["localhost"] }), clientCa: ca };
    const seen: CallPeer[] = [];
    const server = await useServer({
      tls,
      routes: routes((text, _, peer) => {
        seen.push(peer);
        return text;
      }),
    });
    const client = await server.client({ ca, ...authority.issue({ uris: ["spiffe://td/a"] }) });
    const call = client.call(sayPath);
    call.stream.end(enveloped(stringValue("x")));
    expect((await call.result).trailers["grpc-status"]).toBe("0");
    expect(seen).toMatchObject([
      {
        address: expect.stringMatching(
          /^(127\.0\.0\.1|\[::1\]|\[::ffff:127\.0\.0\.1\]):\d+$/,
        ) as string,
        identity: { uris: ["spiffe://td/a"] },
      },
    ]);
  });

  test("sends no compression to a client that offers it, and rejects a compressed message", async () => {
    const server = await useServer({ routes: routes((text) => text.repeat(1000)) });
    const client = await server.client();
    const call = client.call(sayPath, { "grpc-accept-encoding": "gzip,br" });
    call.stream.end(enveloped(stringValue("long")));
    const result = await call.result;
    expect(result.headers["grpc-encoding"]).toBeUndefined();
    expect(result.messages[0]?.length).toBeGreaterThan(4000);
    const zipped = client.call(sayPath, { "grpc-encoding": "gzip" });
    zipped.stream.end(enveloped(gzipSync(stringValue("x")), 1));
    expect((await zipped.result).trailers["grpc-status"]).toBe("12");
  });

  test("serves a call whose timeout no timer can hold", async () => {
    const server = await useServer({ routes: routes((text) => text) });
    const client = await server.client();
    const call = client.call(sayPath, { "grpc-timeout": "2562047H" });
    call.stream.end(enveloped(stringValue("x")));
    expect((await call.result).trailers["grpc-status"]).toBe("0");
    const json = client.call(sayPath, {
      "content-type": "application/json",
      "connect-timeout-ms": "9999999999",
    });
    json.stream.end('"x"');
    expect((await json.result).headers[":status"]).toBe(200);
  });

  test("answers an unknown method with UNIMPLEMENTED, another client with 404 [B-STREAM-2]", async () => {
    const server = await useServer();
    const client = await server.client();
    expect((await client.call("/test.Echo/Other").result).trailers).toMatchObject({
      "grpc-status": "12",
      "grpc-message": "unknown method",
    });
    expect(
      (await client.call("/healthz", { ":method": "GET", "content-type": undefined }).result)
        .headers[":status"],
    ).toBe(404);
  });

  test.for(
    [echoPath, sayPath].flatMap((path) =>
      [
        path.slice(1),
        `/${path}`,
        path.replace("Echo/", "Echo//"),
        `${path}/`,
        `${path}?x`,
        path.replace("t", "%74"),
        `/./${path.slice(1)}`,
      ].filter((each) => each !== path),
    ),
  )("rejects the path %s before it is routed", async (path) => {
    const server = await useServer({ routes: routes((text) => text) });
    const client = await server.client();
    const { trailers, rstCode } = await client.call(path).result;
    expect({ status: trailers["grpc-status"], reset: rstCode !== 0 }).toEqual(
      path.startsWith("/") ? { status: "12", reset: false } : { status: undefined, reset: true },
    );
    expect(server.calls).toHaveLength(0);
    expect(server.server.stats().callsOpened).toBe(0);
  });

  test("answers a request with an authority that is none with 400: no fault of ours", async () => {
    const server = await useServer({ routes: routes((text) => text) });
    const client = await server.client();
    const call = client.call(sayPath, { ":authority": "[bad" });
    call.stream.end(enveloped(stringValue("x")));
    expect((await call.result).headers[":status"]).toBe(400);
    const good = client.call(sayPath);
    good.stream.end(enveloped(stringValue("x")));
    expect((await good.result).trailers["grpc-status"]).toBe("0");
    expect(server.server.stats().faults).toBe(0);
  });

  test("hides what a handler throws from its client, and tells it as a fault", async () => {
    const server = await useServer({
      routes: routes(() => {
        throw new TypeError("secret of the bug");
      }),
    });
    await expect(sayClient(server).say({ value: "x" })).rejects.toMatchObject({
      code: Code.Internal,
      rawMessage: "internal error",
    });
    expect(String((await server.event("fault")).error)).toContain("secret of the bug");
    const chat = (await server.client()).call("/test.Unary/Chat");
    chat.stream.write(enveloped(stringValue("bug")));
    expect((await chat.result).trailers).toMatchObject({
      "grpc-status": "13",
      "grpc-message": "internal%20error",
    });
    expect(server.server.stats().faults).toBe(2);
  });

  test.for([
    new XdsError("NOT_FOUND", "no such thing"),
    new ConnectError("no such thing", Code.NotFound),
  ])("passes an error on that a handler means: $name", async (error) => {
    const server = await useServer({
      routes: routes(() => {
        throw error;
      }),
    });
    await expect(sayClient(server).say({ value: "x" })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: "no such thing",
    });
    expect(server.server.stats().faults).toBe(0);
  });

  test("does not take an error for success, whatever its code", async () => {
    const server = await useServer({
      routes: routes(() => {
        throw new XdsError("OK", "well");
      }),
    });
    await expect(sayClient(server).say({ value: "x" })).rejects.toMatchObject({
      code: Code.Unknown,
      rawMessage: "well",
    });
  });

  test("rejects a message above 16 MiB [S-SIZE-5]", async () => {
    const server = await useServer({ routes: routes((text) => text) });
    const call = (await server.client()).call(sayPath);
    const head = enveloped("");
    head.writeUInt32BE(16 * 1024 * 1024 + 1, 1);
    call.stream.write(head);
    expect((await call.result).trailers["grpc-status"]).toBe("8");
  });

  test("cuts a call whose request trickles in [S-LIM-1]", async () => {
    const server = await useServer({
      routes: routes((text) => text),
      limits: { firstMessageMs: 1_000_000, messageMs: 5000 },
    });
    const client = await server.client();
    const call = client.call(sayPath);
    call.stream.write(enveloped(stringValue("x")).subarray(0, 6));
    await client.roundTrip();
    expect(server.server.stats().calls).toBe(1);
    server.clock.advance(5000);
    await call.result;
    expect(server.server.stats().cuts).toEqual({ "slow-message": 1 });
  });

  test("cuts a call whose client does not read the response [S-LIM-3]", async () => {
    const server = await useServer({
      routes: routes((text) => text.repeat(3_000_000)),
      limits: { pingMs: 1_000_000 },
    });
    const client = await server.client();
    const call = client.call(sayPath);
    const responded = new Promise((resolve) => {
      call.stream.once("response", resolve);
    });
    call.stream.pause();
    call.stream.end(enveloped(stringValue("x")));
    await responded;
    // Everything that fits into the windows is sent before the first check.
    server.clock.advance(2 * 60_000);
    await call.result;
    expect(server.server.stats().cuts).toEqual({ "not-reading": 1 });
  });

  test("bounds the open calls of one connection [S-LIM-1]", async () => {
    let finish: ((text: string) => void) | undefined;
    const server = await useServer({
      routes: routes(
        () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      ),
      limits: { maxCallsPerConnection: 1 },
    });
    const client = await server.client();
    const [first, second] = [client.call(sayPath), client.call(sayPath)];
    first.stream.end(enveloped(stringValue("x")));
    second.stream.end(enveloped(stringValue("x")));
    expect((await second.result).trailers["grpc-status"]).toBe("8");
    finish?.("done");
    expect((await first.result).trailers["grpc-status"]).toBe("0");
    expect(server.server.stats().cuts).toEqual({ "too-many-calls": 1 });
  });

  test("tells when calls and streams are all that one connection may have [S-LIM-1]", async () => {
    const server = await useServer({
      routes: routes((text) => text),
      limits: { maxStreamsPerConnection: 2 },
    });
    const client = await server.client();
    const stream = client.call(echoPath);
    await client.roundTrip();
    expect(server.server.stats().connectionsFilled).toBe(0);
    const say = client.call(sayPath);
    await client.roundTrip();
    expect(server.server.stats().connectionsFilled).toBe(1);
    say.stream.end(enveloped(stringValue("x")));
    expect((await say.result).trailers["grpc-status"]).toBe("0");
    stream.stream.close();
  });

  test.for([["maxStreamsPerPeer"], ["maxStreams"]] as const)(
    "counts calls of all connections of a peer, whoever serves them: %s [S-LIM-1]",
    async ([limit]) => {
      const server = await useServer({ routes: routes((text) => text), limits: { [limit]: 2 } });
      const raw = (await server.client()).call(echoPath);
      raw.stream.write(enveloped("raw"));
      await raw.next();
      const chat = (await server.client()).call("/test.Unary/Chat");
      chat.stream.write(enveloped(stringValue("x")));
      await chat.next();
      const say = async (): Promise<string | undefined> => {
        const call = (await server.client()).call(sayPath);
        call.stream.end(enveloped(stringValue("x")));
        return (await call.result).trailers["grpc-status"] as string | undefined;
      };
      expect(await say()).toBe("8");
      expect((await (await server.client()).call(echoPath).result).trailers["grpc-status"]).toBe(
        "8",
      );
      expect(server.server.stats().cuts).toEqual({ "too-many-streams": 2 });
      raw.stream.end();
      await raw.result;
      expect([await say(), await say()]).toEqual(["0", "0"]);
      chat.stream.end();
    },
  );

  test("sets no deadline for a call of many messages that has sent none yet [S-LIM-1]", async () => {
    const server = await useServer({
      routes: routes((text) => text),
      limits: { pingMs: 100_000_000 },
    });
    const client = await server.client();
    const chat = client.call("/test.Unary/Chat");
    await client.roundTrip();
    server.clock.advance(10_000_000);
    chat.stream.write(enveloped(stringValue("x")));
    await chat.next();
    expect(server.server.stats().cuts).toEqual({});
    chat.stream.end();
  });

  test("counts a call through Connect as the first message of a connection [S-LIM-1]", async () => {
    const server = await useServer({
      routes: routes((text) => text),
      limits: { pingMs: 1_000_000 },
    });
    const client = await server.client();
    const call = client.call(sayPath);
    call.stream.end(enveloped(stringValue("x")));
    await call.result;
    server.clock.advance(60_000);
    expect(server.server.stats()).toMatchObject({ connections: 1, cuts: {} });
  });

  test.for([
    ["gRPC", "application/grpc", enveloped(Buffer.from([10, 0]))],
    ["gRPC, without a message", "application/grpc", Buffer.alloc(0)],
    ["Connect", "application/proto", Buffer.from([10, 0])],
    ["Connect, with JSON that cannot be decoded", "application/json", Buffer.from("x")],
    ["a content type that is not known", "text/plain", Buffer.from("x")],
  ] as const)(
    "cuts a connection with too many calls that end for what the client sent: %s [S-LIM-1]",
    async ([, type, body]) => {
      const server = await useServer({
        limits: { rejectedCalls: 5 },
        routes: routes(() => {
          throw new XdsError("INVALID_ARGUMENT", "type_url is missing");
        }),
      });
      const client = await server.client();
      const reject = async (): Promise<void> => {
        const call = client.call(sayPath, { "content-type": type });
        call.stream.end(body);
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

  test("cuts no connection for calls that end with other codes", async () => {
    const server = await useServer({
      limits: { rejectedCalls: 1 },
      routes: routes((text) => {
        if (text === "") return "answer";
        throw new XdsError(text as "UNAVAILABLE", "not now");
      }),
    });
    const client = sayClient(server);
    const codes = ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "PERMISSION_DENIED", "NOT_FOUND"];
    for (const code of [...codes, ...codes])
      await expect(client.say({ value: code })).rejects.toThrow("not now");
    expect((await client.say({ value: "" })).value).toBe("answer");
    expect(server.server.stats().cuts).toEqual({});
  });
});
