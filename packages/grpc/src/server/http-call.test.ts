import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { get } from "node:https";
import { connect as connectTls } from "node:tls";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { http1Request, useHttp1, watchHttp1 } from "../../test/http1-client.ts";
import { enveloped, type RawClient } from "../../test/raw-client.ts";
import { preface } from "../../test/raw-socket.ts";
import {
  echoPath,
  type TestServer,
  type TestServerOptions,
  useServer,
} from "../../test/use-server.ts";
import type { HttpListener, HttpResponse } from "./http-listener.ts";

/** Answers `/echo...` with its URL and body, and keeps the response of `/wait...` open. */
function wire(): { readonly listener: HttpListener; readonly waiting: HttpResponse[] } {
  const waiting: HttpResponse[] = [];
  const listener: HttpListener = (request, response, peer) => {
    const { url = "" } = request;
    if (url === "/throw") throw new Error("a bug");
    if (url.startsWith("/wait")) {
      waiting.push(response);
      return true;
    }
    if (!url.startsWith("/echo")) return false;
    void (async () => {
      const body: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) body.push(part);
      response.end(`${url} ${Buffer.concat(body).toString()} ${peer.identity?.uris[0] ?? "-"};`);
    })().catch(() => undefined);
    return true;
  };
  return { listener, waiting };
}

async function useHttp(
  options: TestServerOptions = {},
): Promise<TestServer & { readonly waiting: HttpResponse[] }> {
  const { listener, waiting } = wire();
  return { ...(await useServer({ http: [listener], ...options })), waiting };
}

/** Resolves when as many requests wait. The server is asked over a connection of its own. */
async function waits(server: TestServer & { readonly waiting: unknown[] }, count: number) {
  while (server.waiting.length < count)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

async function grpcWorks(client: RawClient): Promise<void> {
  const call = client.call(echoPath);
  call.stream.write(enveloped("x"));
  expect((await call.next()).toString()).toBe("x");
  call.stream.close();
}

async function http2Get(client: RawClient, headers: Record<string, string>, body?: string) {
  const stream = client.session.request({
    ":method": body === undefined ? "GET" : "POST",
    ...headers,
  });
  stream.end(body);
  const [head] = (await once(stream, "response")) as [Record<string, unknown>];
  let text = "";
  for await (const part of stream as AsyncIterable<Buffer>) text += part.toString();
  return { status: head[":status"], text };
}

describe("http", () => {
  test("serves HTTP/1.1, HTTP/2 and gRPC on one port, without TLS", async () => {
    const server = await useHttp();
    const client = await server.client();
    await grpcWorks(client);
    expect(await http2Get(client, { ":path": "/echo?a=%20" }, "body")).toEqual({
      status: 200,
      text: "/echo?a=%20 body -;",
    });
    const url = `http://127.0.0.1:${server.port}`;
    const answer = await fetch(`${url}/echo/1`, { method: "PUT", body: "hello" });
    expect(await answer.text()).toBe("/echo/1 hello -;");
    await grpcWorks(client);
    expect(server.server.stats()).toMatchObject({ callsOpened: 2, cuts: {} });
  });

  test.for(["h2", "http/1.1", undefined])(
    "serves %s over TLS, with the identity of the certificate",
    async (alpn) => {
      const authority = createTestAuthority();
      const own = authority.issue({ dnsNames: ["localhost"] });
      const server = await useHttp({ tls: { ...own, clientCa: authority.cert } });
      const tls = { ...authority.issue({ uris: ["spiffe://a/b"] }), ca: authority.cert };
      if (alpn === "h2") {
        const client = await server.client(tls);
        await grpcWorks(client);
        expect((await http2Get(client, { ":path": "/echo" })).text).toBe("/echo  spiffe://a/b;");
        return;
      }
      const socket = connectTls({
        port: server.port,
        host: "localhost",
        ...tls,
        ...(alpn !== undefined && { ALPNProtocols: [alpn] }),
      });
      onTestFinished(() => {
        socket.destroy();
      });
      const client = watchHttp1(socket, http1Request("/echo"));
      await client.received("/echo  spiffe://a/b;");
      expect(server.server.stats().cuts).toEqual({});
    },
  );

  test("serves HTTP/1.1 over TLS only to clients that present the certificate that is required", async () => {
    const authority = createTestAuthority();
    const server = await useHttp({
      tls: { ...authority.issue({ dnsNames: ["localhost"] }), clientCa: authority.cert },
    });
    const request = get(`https://localhost:${server.port}/echo`, { ca: authority.cert });
    const [error] = (await once(request, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
    expect(server.server.stats()).toMatchObject({ connections: 0, cuts: { "no-certificate": 1 } });
  });

  test("recognizes both versions if their first bytes arrive one at a time", async () => {
    const server = await useHttp();
    const http1 = await useHttp1(server.port);
    const request = http1Request("/echo", "x").replace("POST", "PRIVATE");
    const http2 = await useHttp1(server.port);
    for (const [client, text] of [
      [http1, request],
      [http2, preface],
    ] as const) {
      client.socket.setNoDelay(true);
      for (const byte of text.slice(0, 20))
        await new Promise<void>((resolve) => {
          client.socket.write(byte, () => {
            resolve();
          });
        });
      client.socket.write(text.slice(20));
    }
    // No parser of Node knows PRIVATE; that it says so shows that the bytes are complete.
    expect(await http1.closed).toContain("HTTP/1.1 400");
    http2.socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await http2.received("\x04");
    expect(server.server.stats().connections).toBe(1);
  });

  test("answers pipelined requests in their order, and rejects those above the limit", async () => {
    const server = await useHttp({ limits: { maxCallsPerConnection: 3 } });
    const client = await useHttp1(
      server.port,
      http1Request("/wait") + http1Request("/echo/1", "a") + http1Request("/echo/2"),
    );
    await waits(server, 1);
    expect(client.text()).toBe("");
    server.waiting[0]?.end("first;");
    await client.received("/echo/2");
    expect(client.text().match(/\S+ \S* ?-;|first;/g)).toEqual([
      "first;",
      "/echo/1 a -;",
      "/echo/2  -;",
    ]);
    client.socket.write(http1Request("/wait").repeat(4) + http1Request("/echo/3"));
    await waits(server, 4);
    for (const response of server.waiting.slice(1)) response.end("later;");
    const all = await client.closed;
    expect(all.match(/later;/g)).toHaveLength(3);
    expect(all).toContain("HTTP/1.1 429");
    expect(all).not.toContain("/echo/3");
    expect(server.server.stats()).toMatchObject({ calls: 0, cuts: { "too-many-calls": 2 } });
  });

  test("asks each listener in turn, and answers 404 for what none serves", async () => {
    const { listener } = wire();
    const server = await useServer({
      http: [
        (request, response) => {
          if (request.url !== "/own") return false;
          response.end("own");
          return true;
        },
        listener,
      ],
    });
    const url = `http://127.0.0.1:${server.port}`;
    expect(await (await fetch(`${url}/own`)).text()).toBe("own");
    expect(await (await fetch(`${url}/echo`)).text()).toBe("/echo  -;");
    const client = await useHttp1(server.port, http1Request("/"));
    expect(await client.closed).toMatch(/^HTTP\/1.1 404[^]*no such path/);
    const http2 = await server.client();
    expect((await http2Get(http2, { ":path": "/a%2F/../b" })).status).toBe(404);
    await grpcWorks(http2);
  });

  test("ends an HTTP/2 connection that keeps requesting paths that do not exist", async () => {
    const server = await useHttp({ limits: { rejectedCalls: 3 } });
    const client = await server.client();
    for (let i = 0; i < 3; i += 1) await http2Get(client, { ":path": "/" });
    client.session.request({ ":path": "/" }).on("error", () => undefined);
    await client.closed;
    expect(server.server.stats().cuts).toEqual({ "rejected-calls": 1 });
  });

  test("rejects gRPC calls of unknown methods with a status, not with a page", async () => {
    const server = await useHttp();
    const { trailers, headers } = await (await server.client()).call("/echo").result;
    expect({ ...headers, ...trailers }).toMatchObject({ "grpc-status": "12" });
  });

  test("answers 500 if a listener throws, and reports a fault", async () => {
    const server = await useHttp();
    const answer = await fetch(`http://127.0.0.1:${server.port}/throw`);
    expect([answer.status, await answer.text()]).toEqual([500, ""]);
    expect((await http2Get(await server.client(), { ":path": "/throw" })).status).toBe(500);
    expect(server.server.stats().faults).toBe(2);
  });

  test("rejects HTTP/1.1 as a violation of HTTP/2 where no listener is given", async () => {
    const server = await useServer();
    const client = await useHttp1(server.port, http1Request("/"));
    await client.closed;
    expect(server.server.stats().cuts).toEqual({ "protocol-error": 1 });
  });
});

describe("limits of HTTP/1.1", () => {
  test.for([
    ["no bytes", ""],
    ["the beginning of a preface", "PRI * H"],
    ["headers that do not end", "GET / HTTP/1.1\r\na: b\r\n"],
  ])("cuts a connection with %s in firstMessageMs", async ([, bytes = ""]) => {
    const server = await useHttp();
    const client = await useHttp1(server.port, bytes);
    if (bytes.startsWith("GET")) {
      await server.event("connection-opened");
      server.clock.advance(14_000);
      client.socket.write("c: d\r\n");
    } else await (await useHttp1(server.port, http1Request("/echo"))).received("echo");
    server.clock.advance(15_000);
    expect(await client.closed).toBe(
      bytes.startsWith("GET")
        ? "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        : "",
    );
    expect(server.server.stats().cuts).toEqual({ silent: 1 });
  });

  test("keeps an answered connection for httpIdleMs, however many bytes of headers come", async () => {
    const server = await useHttp({ limits: { httpIdleMs: 1_000 } });
    const client = await useHttp1(server.port, http1Request("/echo/1"));
    await client.received("/echo/1");
    server.clock.advance(999);
    client.socket.write(http1Request("/echo/2"));
    await client.received("/echo/2");
    client.socket.write("GET /echo/3");
    server.clock.advance(1_000);
    expect(await client.closed).not.toContain("/echo/3");
    expect(server.server.stats().cuts).toEqual({});
  });

  test("does not end a connection while a request is open, if nothing waits to be read", async () => {
    const server = await useHttp();
    const client = await useHttp1(server.port, http1Request("/wait"));
    await waits(server, 1);
    for (let i = 0; i < 100; i += 1) server.clock.advance(60_000);
    server.waiting[0]?.end("still here");
    await client.received("still here");
    expect(server.server.stats().cuts).toEqual({});
  });

  test("frees the call of a client that disconnects, or ends its side", async () => {
    const server = await useHttp();
    const [gone, ended] = [
      await useHttp1(server.port, http1Request("/wait")),
      await useHttp1(server.port, http1Request("/wait")),
    ];
    await waits(server, 2);
    gone.socket.resetAndDestroy();
    ended.socket.end();
    await ended.closed;
    await server.event("connection-closed", () => server.server.stats().connections === 0);
    expect(server.server.stats()).toMatchObject({ calls: 0, cuts: {} });
  });

  test.for([
    ["before its first byte", ""],
    ["inside a preface", "PRI"],
    ["inside headers", "GET"],
  ] as const)("is done with a client that ends its side %s", async ([, bytes]) => {
    const server = await useHttp({ limits: { maxConnections: 1 } });
    const client = await useHttp1(server.port, bytes);
    client.socket.end();
    await client.closed;
    const next = await useHttp1(server.port, http1Request("/echo"));
    await next.received("echo");
  });

  test("counts connections per peer from their first moment", async () => {
    const server = await useHttp({ limits: { maxConnectionsPerPeer: 2 } });
    const silent = await useHttp1(server.port);
    const served = await useHttp1(server.port, http1Request("/echo"));
    await served.received("echo");
    expect(await (await useHttp1(server.port)).closed).toBe("");
    silent.socket.write(http1Request("/echo"));
    await silent.received("echo");
    expect(server.server.stats().cuts).toEqual({ "too-many-connections": 1 });
    await expect(server.client()).rejects.toThrow("closed the connection");
    served.socket.destroy();
    await server.event("connection-closed");
    await grpcWorks(await server.client());
  });

  test.for([
    ["400 Bad Request", "nonsense\r\n\r\n"],
    [
      "400 Bad Request",
      "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    ],
    [
      "431 Request Header Fields Too Large",
      http1Request("/", undefined, `a: ${"b".repeat(100_000)}\r\n`),
    ],
  ])("answers %s to what is not a request, and cuts the connection", async ([answer, bytes]) => {
    const server = await useHttp();
    const client = await useHttp1(server.port, bytes);
    expect(await client.closed).toContain(`HTTP/1.1 ${answer}`);
    expect(server.server.stats().cuts).toEqual({ "protocol-error": 1 });
  });

  test("rejects a body that is announced as too large, and cuts one that becomes too large", async () => {
    const server = await useHttp({ limits: { maxMessageBytes: 10 } });
    const announced = await useHttp1(server.port, http1Request("/echo", "a".repeat(11)));
    expect(await announced.closed).toContain("HTTP/1.1 413");
    const chunked = await useHttp1(
      server.port,
      "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n12345678\r\n",
    );
    expect(await chunked.closed).toBe("");
    const client = await server.client();
    const stream = client.session.request({ ":method": "POST", ":path": "/echo" });
    stream.on("error", () => undefined);
    stream.write("12345678");
    stream.write("12345678");
    await new Promise((resolve) => {
      stream.once("close", resolve);
    });
    expect(stream.rstCode).not.toBe(0);
    expect(server.server.stats()).toMatchObject({ calls: 0, cuts: { "too-large": 3 } });
    await grpcWorks(client);
  });

  test("cuts a body that is too slow", async () => {
    const server = await useHttp();
    const client = await useHttp1(
      server.port,
      `POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n1`,
    );
    await waits(server, 1);
    server.clock.advance(30_000);
    await client.closed;
    expect(server.server.stats()).toMatchObject({ calls: 0, cuts: { "slow-message": 1 } });
  });

  test("cuts a client that does not read its response", async () => {
    const server = await useHttp();
    const client = await useHttp1(server.port, http1Request("/wait"));
    client.socket.pause();
    await waits(server, 1);
    (server.waiting[0] as ServerResponse).write(Buffer.alloc(20_000_000));
    server.clock.advance(60_000);
    server.clock.advance(60_000);
    server.clock.advance(60_000);
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({ calls: 0, cuts: { "not-reading": 1 } });
  });

  test("counts requests of a peer among its calls", async () => {
    const server = await useHttp({ limits: { maxStreamsPerPeer: 1 } });
    await useHttp1(server.port, http1Request("/wait"));
    await waits(server, 1);
    expect((await fetch(`http://127.0.0.1:${server.port}/echo`)).status).toBe(429);
    const { headers } = await (await server.client()).call(echoPath).result;
    expect(headers["grpc-status"]).toBe("8");
  });
});

describe("the end of HTTP/1.1 connections", () => {
  test("ends idle connections at once, and others with their response [S-STREAM-13]", async () => {
    const server = await useHttp();
    const idle = await useHttp1(server.port, http1Request("/echo"));
    await idle.received("echo");
    const silent = await useHttp1(server.port);
    const busy = await useHttp1(server.port, http1Request("/wait"));
    await waits(server, 1);
    const closed = server.server.close();
    await Promise.all([idle.closed, silent.closed]);
    server.waiting[0]?.end("the last one");
    expect((await busy.closed).toLowerCase()).toMatch(/connection: close\r\n[^]*the last one/);
    await closed;
    expect(server.server.stats().cuts).toEqual({});
  });

  test("answers 503 to what is pipelined behind, and cuts what stays [S-STREAM-13]", async () => {
    const server = await useHttp();
    const [busy, stuck] = [
      await useHttp1(server.port, http1Request("/wait")),
      await useHttp1(server.port, http1Request("/wait")),
    ];
    await waits(server, 2);
    const closed = server.server.close({ graceMs: 1_000 });
    busy.socket.write(http1Request("/echo"));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    server.waiting[0]?.end("answered");
    expect(await busy.closed).not.toContain("/echo");
    server.clock.advance(1_000);
    await Promise.all([stuck.closed, closed]);
    expect(server.server.stats().cuts).toEqual({ "drain-grace": 1 });
  });

  test("ends a connection at its age, after the open request [S-STREAM-13]", async () => {
    const server = await useHttp({ connectionAge: { ms: 1_000, graceMs: 1_000 } });
    const [idle, busy, stuck] = [
      await useHttp1(server.port, http1Request("/echo")),
      await useHttp1(server.port, http1Request("/wait")),
      await useHttp1(server.port, http1Request("/wait")),
    ];
    await idle.received("echo");
    await waits(server, 2);
    server.clock.advance(1_100);
    await idle.closed;
    server.waiting[0]?.end("in time");
    expect((await busy.closed).toLowerCase()).toMatch(/connection: close\r\n[^]*in time/);
    server.clock.advance(2_000);
    await stuck.closed;
    expect(server.server.stats()).toMatchObject({
      connectionsRetired: 3,
      cuts: { "age-grace": 1 },
    });
  });
});
