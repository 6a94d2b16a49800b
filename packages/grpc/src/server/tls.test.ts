import { once } from "node:events";
import { connect as connectHttp2, type SecureClientSessionOptions } from "node:http2";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { StatusCode, XdsError } from "@xdstp/core";
import * as grpc from "@grpc/grpc-js";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { useSocket } from "../../test/raw-socket.ts";
import { echoPath, useServer, type TestServer } from "../../test/use-server.ts";
import { createGrpcServer } from "./grpc-server.ts";

const authority = createTestAuthority();
const stranger = createTestAuthority("test authority");
const own = authority.issue({ name: "server", dnsNames: ["localhost"] });
const ca = authority.cert;
const mutual = { ...own, clientCa: ca };

/** Connects a client with this certificate. `served` is the identity that the server saw. */
async function servedAs(
  server: TestServer,
  certificate: { readonly cert: string; readonly key: string } | undefined,
): Promise<unknown> {
  const client = await server.client({ ca, ...certificate });
  const call = client.call(echoPath, { "x-identity": "spiffe://td/admin" });
  call.stream.write(enveloped("x"));
  await call.next();
  call.stream.close();
  return server.calls.at(-1)?.call.peer.identity;
}

/**
 * Resolves when the server has cut a client that opens a call at once. The server has not served
 * the call.
 */
async function turnedAway(server: TestServer, tls: SecureClientSessionOptions): Promise<void> {
  const calls = server.calls.length;
  const session = connectHttp2(`https://localhost:${server.port}`, tls);
  session.on("error", () => {
    /* `close` follows */
  });
  session
    .request({ ":method": "POST", ":path": echoPath, "content-type": "application/grpc" })
    .on("error", () => {
      /* so it should */
    });
  await new Promise((resolve) => {
    session.on("close", resolve);
  });
  expect(server.calls).toHaveLength(calls);
}

/** Returns the result of a TLS handshake: the socket, or the code of the error. */
async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket | string> {
  const socket = connectTls({
    port,
    host: "127.0.0.1",
    servername: "localhost",
    ca,
    ALPNProtocols: ["h2"],
    ...options,
  });
  onTestFinished(() => {
    socket.destroy();
  });
  return await new Promise((resolve) => {
    socket.on("secureConnect", () => {
      resolve(socket);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
  });
}

describe("createGrpcServer() with TLS", () => {
  test("serves over TLS 1.2 and 1.3 with ALPN h2", async () => {
    const server = await useServer({ tls: own });
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake(server.port, { minVersion: version, maxVersion: version });
      expect(
        typeof socket === "string" ? socket : [socket.getProtocol(), socket.alpnProtocol],
      ).toEqual([version, "h2"]);
    }
    expect(await servedAs(server, undefined)).toBeUndefined();
  });

  test("speaks no TLS 1.1", async () => {
    const server = await useServer({ tls: own });
    expect(
      await handshake(server.port, {
        minVersion: "TLSv1.1",
        maxVersion: "TLSv1.1",
        ciphers: "DEFAULT@SECLEVEL=0",
      }),
    ).toMatch(/^ERR_SSL/);
    await server.event("connection-cut");
    expect(server.server.stats().cuts).toEqual({ "tls-handshake": 1 });
  });

  test("speaks nothing but h2: not with a client of another protocol, nor with one that names none", async () => {
    const server = await useServer({ tls: own });
    expect(await handshake(server.port, { ALPNProtocols: ["http/1.1"] })).toMatch(/^ERR_SSL/);
    const none = await handshake(server.port, { ALPNProtocols: [] });
    if (typeof none !== "string") await once(none, "close");
    await server.event("connection-cut", ({ reason }) => reason === "not-http2");
    expect(server.server.stats()).toMatchObject({ connections: 0, cuts: { "not-http2": 1 } });
  });

  test("lives through clients that break off or send garbage in the handshake (CVE-2025-59465)", async () => {
    const server = await useServer({ tls: mutual });
    for (const bytes of [
      "",
      "GET / HTTP/1.1\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00",
      "\x16\x03\x01\xff\xff",
    ]) {
      const socket = await useSocket(server.port);
      socket.write(bytes, "latin1");
      socket.resetAndDestroy();
    }
    expect(await servedAs(server, authority.issue({ uris: ["spiffe://td/a"] }))).toMatchObject({
      uris: ["spiffe://td/a"],
    });
  });

  test("cuts a handshake that takes too long [S-LIM-1]", async () => {
    const server = await useServer({ tls: own, limits: { firstMessageMs: 20 } });
    const socket = await useSocket(server.port);
    socket.write("\x16", "latin1");
    await once(socket, "close");
    expect(await server.event("connection-cut")).toMatchObject({
      reason: "tls-handshake",
      detail: "ERR_TLS_HANDSHAKE_TIMEOUT",
    });
  });

  test("counts handshakes as connections [S-LIM-1]", async () => {
    const server = await useServer({ tls: own, limits: { maxConnections: 2 } });
    await useSocket(server.port);
    await useSocket(server.port);
    await once(await useSocket(server.port), "close");
    expect(await server.event("connection-cut")).toMatchObject({
      reason: "too-many-connections",
      peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
    });
  });
});

describe("createGrpcServer() with certificates of clients", () => {
  test("takes the identity from the verified certificate, never from what a call says [S-NODE-8]", async () => {
    const server = await useServer({ tls: mutual });
    const identity = { uris: ["spiffe://td/ns/a/sa/b"], dnsNames: ["b.example"], subject: "CN=b" };
    expect(
      await servedAs(
        server,
        authority.issue({ name: "b", uris: identity.uris, dnsNames: identity.dnsNames }),
      ),
    ).toMatchObject(identity);
    expect(await server.event("connection-opened")).toMatchObject({ identity });
  });

  test.for([
    ["no certificate", undefined],
    [
      "the certificate of another authority of the same name",
      stranger.issue({ uris: ["spiffe://td/admin"] }),
    ],
    [
      "a certificate that has ended",
      authority.issue({ uris: ["spiffe://td/admin"], notAfter: new Date(Date.now() - 1000) }),
    ],
  ] as const)("turns away a client with %s", async ([, certificate]) => {
    const server = await useServer({ tls: mutual });
    await turnedAway(server, { ca, ...certificate });
    await server.event(
      "connection-cut",
      ({ reason, detail = "" }) => reason === "no-certificate" && detail.length > 0,
    );
    expect(server.server.stats()).toMatchObject({
      connections: 0,
      connectionsOpened: 0,
      cuts: { "no-certificate": 1 },
    });
  });

  test.for([
    ["no certificate", undefined],
    [
      "the certificate of another authority",
      createTestAuthority("other").issue({ uris: ["spiffe://td/admin"] }),
    ],
    [
      "a certificate that has ended",
      authority.issue({ uris: ["spiffe://td/admin"], notAfter: new Date(Date.now() - 1000) }),
    ],
  ] as const)(
    "serves a client with %s without an identity where one is optional (CVE-2026-101916)",
    async ([, certificate]) => {
      const server = await useServer({ tls: { ...mutual, clientCertificate: "optional" } });
      expect(await servedAs(server, certificate)).toBeUndefined();
      expect(await servedAs(server, authority.issue({ uris: ["spiffe://td/a"] }))).toMatchObject({
        uris: ["spiffe://td/a"],
      });
    },
  );

  test("gives a caller on loopback no identity for being there (GHSA-6c6p-h79f-g6p4)", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, {
      "x-forwarded-client-cert": "URI=spiffe://td/admin",
      authorization: "Bearer x",
    });
    call.stream.write(enveloped("x"));
    await call.next();
    expect(server.calls[0]?.call.peer).toEqual({
      address: expect.stringContaining("127.0.0.1:") as string,
    });
    call.stream.close();
  });

  test("resumes no session: each connection is verified anew (Node, November 2026: mTLS resumption)", async () => {
    const server = await useServer({ tls: mutual });
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const options = { ...authority.issue(), minVersion: version, maxVersion: version };
      const first = await handshake(server.port, options);
      if (typeof first === "string") throw new Error(first);
      const session = first.getSession();
      const second = await handshake(server.port, {
        ...options,
        ...(session === undefined ? {} : { session }),
      });
      expect(typeof second === "string" ? second : second.isSessionReused()).toBe(false);
    }
  });

  test("counts streams by who the client is, not by where it is [S-LIM-1]", async () => {
    const server = await useServer({ tls: mutual, limits: { maxStreamsPerPeer: 1 } });
    const certificate = authority.issue({ uris: ["spiffe://td/a"] });
    const clients = await Promise.all(
      [certificate, certificate, authority.issue({ uris: ["spiffe://td/b"] })].map(async (one) =>
        server.client({ ca, ...one }),
      ),
    );
    const [first, other] = [clients[0], clients[2]].map((client) => client?.call(echoPath));
    for (const call of [first, other]) {
      call?.stream.write(enveloped("x"));
      await call?.next();
    }
    expect((await clients[1]?.call(echoPath).result)?.trailers["grpc-status"]).toBe(
      String(StatusCode.RESOURCE_EXHAUSTED),
    );
    for (const call of [first, other]) call?.stream.close();
  });
});

describe("createGrpcServer() with TLS and grpc-js as the client", () => {
  test("serves a client of the field over mTLS, by its identity", async () => {
    const server = await useServer({ tls: mutual });
    const { cert, key } = authority.issue({ uris: ["spiffe://td/grpc-js"] });
    const client = new grpc.Client(
      `localhost:${server.port}`,
      grpc.credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert)),
    );
    onTestFinished(() => {
      client.close();
    });
    const same = (bytes: Buffer): Buffer => bytes;
    const call = client.makeBidiStreamRequest(echoPath, same, same);
    call.on("error", () => undefined);
    const answer = once(call, "data");
    call.write(Buffer.from("hello"));
    expect(String((await answer)[0])).toBe("hello");
    expect(server.calls[0]?.call.peer.identity?.uris).toEqual(["spiffe://td/grpc-js"]);
    call.cancel();
  });
});

describe("setTls()", () => {
  const next = createTestAuthority("next authority");

  test("takes effect for new connections, and leaves open ones alone", async () => {
    const server = await useServer({ tls: mutual });
    const before = await server.client({ ca, ...authority.issue({ uris: ["spiffe://td/a"] }) });
    const call = before.call(echoPath);
    call.stream.write(enveloped("x"));
    await call.next();
    server.server.setTls({ ...next.issue({ dnsNames: ["localhost"] }), clientCa: next.cert });
    call.stream.write(enveloped("still here"));
    expect((await call.next()).toString()).toBe("still here");
    await expect(server.client({ ca, ...authority.issue() })).rejects.toThrow("certificate");
    await turnedAway(server, { ca: next.cert, ...authority.issue() });
    const after = (
      await server.client({ ca: next.cert, ...next.issue({ uris: ["spiffe://td/b"] }) })
    ).call(echoPath);
    after.stream.write(enveloped("x"));
    await after.next();
    expect(server.calls.map((seen) => seen.call.peer.identity?.uris)).toEqual([
      ["spiffe://td/a"],
      ["spiffe://td/b"],
    ]);
    for (const open of [call, after]) open.stream.close();
  });

  test.for([
    [
      "a key that belongs to another certificate",
      { ...own, key: authority.issue().key },
      "tls.key does not belong to tls.cert",
    ],
    [
      "half a key",
      { ...own, key: own.key.slice(0, 80) },
      "tls.key does not belong to tls.cert, or is not valid PEM",
    ],
    ["no certificate", { ...own, cert: "" }, "tls.cert holds no certificate in PEM"],
    [
      "a certificate that cannot be read",
      { ...own, cert: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
      "tls.cert cannot be read",
    ],
    [
      "authorities that are none",
      { ...own, clientCa: "empty" },
      "tls.clientCa holds no certificate in PEM",
    ],
  ] as const)("rejects %s, and keeps what it has", async ([, broken, text]) => {
    expect(() =>
      createGrpcServer({
        accept: () => ({ code: 14, message: "" }),
        isStreaming: () => true,
        tls: broken,
      }),
    ).toThrow(text);
    const server = await useServer({ tls: mutual });
    const replace = (): void => {
      server.server.setTls({ clientCa: ca, ...broken });
    };
    expect(replace).toThrow(XdsError);
    expect(replace).toThrow(text);
    expect(await servedAs(server, authority.issue({ uris: ["spiffe://td/a"] }))).toMatchObject({
      uris: ["spiffe://td/a"],
    });
  });

  test("rejects a certificate that has ended", async () => {
    const server = await useServer({ tls: own });
    const ended = authority.issue({ notAfter: new Date(1000) });
    server.server.setTls(ended);
    server.clock.advance(2000);
    expect(() => {
      server.server.setTls(ended);
    }).toThrow("tls.cert ended at 1970-01-01T00:00:01.000Z");
  });

  test("cannot start or stop to request client certificates, and cannot start TLS", async () => {
    const [plain, oneSided, both] = [
      await useServer(),
      await useServer({ tls: own }),
      await useServer({ tls: mutual }),
    ];
    expect(() => {
      plain.server.setTls(own);
    }).toThrow("[FAILED_PRECONDITION] this server has no TLS");
    expect(() => {
      oneSided.server.setTls(mutual);
    }).toThrow("cannot start or stop");
    expect(() => {
      both.server.setTls(own);
    }).toThrow("cannot start or stop");
    expect(() => {
      both.server.setTls({ ...mutual, clientCertificate: "optional" });
    }).toThrow("cannot start or stop");
  });
});
