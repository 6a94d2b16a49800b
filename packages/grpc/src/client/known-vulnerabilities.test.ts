import { once } from "node:events";
import {
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { StatusCode } from "@xdstp/core";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { frame } from "../../test/raw-socket.ts";
import { useChannel } from "../../test/use-channel.ts";
import { messageOf, useServer } from "../../test/use-server.ts";

/**
 * One test for each row of "Known vulnerabilities" in docs/reference/operators-and-security.md that concerns the wire of a client; titles name the row.
 * Elsewhere: messages that nest (packages/client, known-failures), authorities and names of certificates (channel-tls), versions of Node (packages/cli).
 */
async function useTcp(
  onSocket: (socket: Socket, before: number) => void,
): Promise<{ readonly port: number; readonly sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {
      /* so it should */
    });
    sockets.push(socket);
    onSocket(socket, sockets.length - 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

async function useHttp2(
  onStream: (stream: ServerHttp2Stream) => void,
  onSession: (session: ServerHttp2Session) => void = () => undefined,
): Promise<number> {
  const server = createHttp2Server();
  server.on("session", (session) => {
    onTestFinished(() => {
      session.destroy();
    });
    onSession(session);
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {
      /* so it should */
    });
    onStream(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const answer = { ":status": 200, "content-type": "application/grpc" };
const settings = Buffer.concat([frame(4, 0, 0), frame(4, 1, 0)]);

/** Makes a call to a good server, which the attack must not affect. */
async function witness(): Promise<() => Promise<void>> {
  const seen = useChannel((await useServer()).port).call();
  return async () => {
    const before = seen.messages.length;
    seen.stream.send(messageOf("x"));
    await seen.has(before + 1);
  };
}

describe("known vulnerabilities, seen from a client", () => {
  test.each([
    ["HEADERS", frame(1, 0, 1, Buffer.of(0x88))],
    [
      "CONTINUATION",
      Buffer.concat([frame(1, 0, 1, Buffer.of(0x88)), frame(9, 0, 1, Buffer.of(0x40))]),
    ],
  ])(
    "CVE-2026-56846, CVE-2026-56848, CVE-2024-27983: a server that stops within a header block after %s, and resets, ends its call alone",
    async (_, bytes) => {
      const served = await witness();
      const { port } = await useTcp((socket) => {
        socket.once("data", () => {
          socket.write(Buffer.concat([settings, bytes]), () => {
            socket.resetAndDestroy();
          });
        });
      });
      expect((await useChannel(port).call().closed).code).toBe(StatusCode.UNAVAILABLE);
      await served();
    },
  );

  test("CVE-2026-56846: a server that stops within a header block and stays there is found out by a ping, and its connection is closed", async () => {
    const { port, sockets } = await useTcp((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.concat([settings, frame(1, 0, 1, Buffer.of(0x88))]));
      });
    });
    const { call } = useChannel(port, { limits: { pingMs: 50, pingTimeoutMs: 50 } });
    expect((await call().closed).code).toBe(StatusCode.UNAVAILABLE);
    for (const socket of sockets) if (!socket.destroyed) await once(socket, "close");
  });

  test("CVE-2026-48937, CVE-2026-21714, CVE-2025-23085: no connection outlives its GOAWAY, in a loop of 50", async () => {
    const open = new Set<ServerHttp2Session>();
    const port = await useHttp2(
      (stream) => {
        stream.respond(answer, { waitForTrailers: true });
        stream.on("wantTrailers", () => {
          stream.sendTrailers({ "grpc-status": "14" });
        });
        stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
        stream.end();
      },
      (session) => {
        open.add(session);
        session.on("close", () => {
          open.delete(session);
        });
      },
    );
    const { call } = useChannel(port);
    for (let n = 0; n < 50; n++) expect((await call().closed).code).toBe(StatusCode.UNAVAILABLE);
    while (open.size > 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    expect(open.size).toBeLessThanOrEqual(1);
  });

  test("CVE-2026-48619: a server that sends ORIGIN frames without end takes no memory", async () => {
    const origins = Array.from({ length: 200 }, (_, n) => `https://${n}.${"x".repeat(50)}.example`);
    const payload = Buffer.concat(
      origins.map((origin) => Buffer.concat([Buffer.of(0, origin.length), Buffer.from(origin)])),
    );
    const flood = Buffer.concat(Array.from({ length: 50 }, () => frame(12, 0, 0, payload)));
    let sent = 0;
    const { port } = await useTcp((socket) => {
      const pump = (): void => {
        if (sent >= 40_000_000) {
          socket.end();
          return;
        }
        sent += flood.length;
        socket.write(flood, pump);
      };
      socket.once("data", () => {
        socket.write(settings, pump);
      });
    });
    collect();
    const before = process.memoryUsage().heapUsed;
    expect((await useChannel(port).call().closed).code).toBe(StatusCode.UNAVAILABLE);
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
  });

  test.each([
    ["HEADERS on no stream", frame(1, 5, 0, Buffer.of(0x88))],
    ["a header block that is none", frame(1, 4, 1, Buffer.alloc(100, 0xff))],
    ["DATA before HEADERS", frame(0, 0, 1, Buffer.of(0, 0, 0, 0, 0))],
    ["a pushed stream", frame(5, 4, 1, Buffer.from([0, 0, 0, 2, 0x88]))],
    ["a frame that is too large", frame(0, 0, 1, Buffer.alloc(20_000))],
    [
      "a window that overflows",
      Buffer.concat([
        frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
        frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
      ]),
    ],
  ])("CVE-2025-59465, CVE-2026-48068: %s ends the call, not the process", async (_, bytes) => {
    const served = await witness();
    const { port } = await useTcp((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.concat([settings, bytes]));
        socket.end();
      });
    });
    expect((await useChannel(port).call().closed).code).not.toBe(StatusCode.OK);
    await served();
  });

  test("CVE-2023-44487: a server that resets each call at once harms nobody, 1,000 times", async () => {
    const served = await witness();
    const port = await useHttp2((stream) => {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    const { call } = useChannel(port);
    for (let n = 0; n < 1_000; n++) expect((await call().closed).code).toBe(StatusCode.UNAVAILABLE);
    await served();
  });

  test.each([
    ["1 GB", 0x40_00_00_00],
    ["4 GB", 0xff_ff_ff_ff],
  ])("CVE-2024-37168: %s that is announced takes no memory", async (_, size) => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(size, 1);
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.write(head);
    });
    const { call } = useChannel(port);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < 20; n++)
      expect((await call().closed).code).toBe(StatusCode.RESOURCE_EXHAUSTED);
    collect();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });

  test.each(["gzip", "deflate", "zstd", "identity"])(
    "CVE-2026-48069, CVE-2026-48044: a bomb under %s is never unpacked",
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(50_000_000));
      const head = Buffer.of(1, 0, 0, 0, 0);
      head.writeUInt32BE(bomb.length, 1);
      const port = await useHttp2((stream) => {
        stream.respond({ ...answer, "grpc-encoding": encoding });
        stream.write(Buffer.concat([head, bomb]));
      });
      const seen = useChannel(port).call();
      expect([(await seen.closed).code, seen.messages]).toEqual([StatusCode.INTERNAL, []]);
    },
  );

  test.each([
    "localhost\u0000.evil.example",
    "evil.example\u0000localhost",
    "LOCALHOST.evil.example",
  ])("CVE-2026-47778, CVE-2026-101916: a certificate for %j is not for localhost", async (name) => {
    const authority = createTestAuthority();
    const server = await useServer({ tls: authority.issue({ dnsNames: [name] }) });
    const { code } = await useChannel(`localhost:${server.port}`, {
      tls: { ca: authority.cert },
    }).call().closed;
    expect([code, server.calls]).toEqual([StatusCode.UNAVAILABLE, []]);
  });

  test("CVE-2026-48854: a message that trickles in holds its own bytes, and nobody else up", async () => {
    const served = await witness();
    const port = await useHttp2((stream) => {
      stream.respond(answer);
      stream.write(Buffer.of(0, 0, 1, 0, 0, 1, 2, 3));
    });
    const { call } = useChannel(port);
    const [slow, other] = [call(), call()];
    await served();
    expect([slow.messages, other.messages, slow.closedTimes]).toEqual([[], [], 0]);
    slow.stream.close({ code: StatusCode.CANCELLED, message: "" });
    expect((await slow.closed).code).toBe(StatusCode.CANCELLED);
    other.stream.close({ code: StatusCode.CANCELLED, message: "" });
    await other.closed;
  });

  test("GHSA-8w5h-qr4r-2h6g and like it: a server of which one answer cannot be read loses that call, and no other of the connection", async () => {
    let calls = 0;
    const port = await useHttp2((stream) => {
      const bad = calls++ === 0;
      stream.respond(answer);
      stream.write(bad ? Buffer.of(9, 9, 9, 9, 9) : messageOf("good").enveloped);
    });
    const { call } = useChannel(port);
    const [bad, good] = [call(), call()];
    expect((await bad.closed).code).toBe(StatusCode.INTERNAL);
    await good.has(1);
    expect(good.closedTimes).toBe(0);
  });

  test("a half-open connection is found out by a ping, and the next call goes over a new one", async () => {
    const { port, sockets } = await useTcp((socket, before) => {
      socket.once("data", () => {
        socket.write(
          Buffer.concat([
            settings,
            before === 0 ? Buffer.alloc(0) : frame(1, 5, 1, Buffer.of(0x88)),
          ]),
        );
      });
    });
    const { call } = useChannel(port, { limits: { pingMs: 50, pingTimeoutMs: 50 } });
    expect((await call().closed).code).toBe(StatusCode.UNAVAILABLE);
    await call().closed;
    expect(sockets.length).toBe(2);
  });
});
