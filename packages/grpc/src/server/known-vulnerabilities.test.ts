import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { StatusCode } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { enveloped, type RawClientCall } from "../../test/raw-client.ts";
import { frame, headerBlock, preface, received, useSocket } from "../../test/raw-socket.ts";
import { echoPath, useServer, type TestServer } from "../../test/use-server.ts";

/**
 * One test for each row of "Known vulnerabilities" in docs/reference/operators-and-security.md that concerns the wire of a server; titles name the row.
 * Elsewhere: certificates (tls, identity-of), messages that nest and JSON (packages/server), versions of Node (packages/cli).
 */
const settings = frame(4, 0, 0);
const opened = (path = echoPath): Buffer =>
  Buffer.concat([Buffer.from(preface), settings, frame(1, 4, 1, headerBlock(path))]);

/** Makes a call on a separate connection, which the attack must not affect. */
async function witness(
  server: TestServer,
): Promise<{ readonly call: RawClientCall; readonly served: () => Promise<void> }> {
  const call = (await server.client()).call(echoPath);
  const served = async (): Promise<void> => {
    call.stream.write(enveloped("x"));
    expect((await call.next()).toString()).toBe("x");
  };
  await served();
  return { call, served };
}

describe("known vulnerabilities", () => {
  test.for([
    ["HEADERS", 1],
    ["CONTINUATION", 9],
  ] as const)(
    "CVE-2026-56846, CVE-2024-27983: a header block that stalls after %s ends with its connection, in time or by a reset",
    async ([, type]) => {
      const server = await useServer();
      const { call, served } = await witness(server);
      const block = headerBlock(echoPath);
      const parts = [
        frame(1, 0, 1, block.subarray(0, 5)),
        ...(type === 9 ? [frame(9, 0, 1, block.subarray(5, 9))] : []),
      ];
      const [stalled, reset] = [await useSocket(server.port), await useSocket(server.port)];
      for (const socket of [stalled, reset])
        socket.write(Buffer.concat([Buffer.from(preface), settings, ...parts]));
      await server.event("connection-opened", () => server.server.stats().connections === 3);
      reset.resetAndDestroy();
      await server.event("connection-closed");
      server.clock.advance(15_000);
      await once(stalled, "close");
      expect(server.server.stats()).toMatchObject({ connections: 1, cuts: { silent: 1 } });
      await served();
      call.stream.close();
    },
  );

  test("CVE-2026-56848: resets while headers and messages are received harm nobody", async () => {
    const server = await useServer();
    const { call, served } = await witness(server);
    for (let i = 0; i < 200; i += 1) {
      const socket = await useSocket(server.port);
      const closed = once(socket, "close");
      socket.write(
        Buffer.concat([
          opened(),
          frame(0, 0, 1, enveloped(Buffer.alloc(1000)).subarray(0, i)),
          frame(3, 0, 1, Buffer.from([0, 0, 0, 8])),
          frame(1, 4, 3, headerBlock(echoPath)).subarray(0, i % 30),
        ]),
      );
      socket.resetAndDestroy();
      await closed;
    }
    await served();
    await server.event("connection-closed", () => server.server.stats().connections === 1);
    expect(server.server.stats()).toMatchObject({ streams: 1, faults: 0 });
    call.stream.close();
  });

  test("CVE-2026-48937, CVE-2026-21714, CVE-2025-23085: no session outlives its GOAWAY", async () => {
    const server = await useServer();
    for (let i = 0; i < 50; i += 1) {
      const socket = await useSocket(server.port);
      socket.write(Buffer.concat([opened(), frame(7, 0, 0, Buffer.alloc(8))]));
    }
    await server.event("stream-opened", () => server.server.stats().streams === 50);
    while (server.server.stats().connections > 0) {
      server.clock.advance(30_000);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(server.server.stats()).toMatchObject({ connections: 0, streams: 0 });
  });

  test("CVE-2023-44487: a client that goes on resetting streams is sent away, and nobody else notices", async () => {
    const server = await useServer({ limits: { maxStreamsPerConnection: 100 } });
    const { call, served } = await witness(server);
    const socket = await useSocket(server.port);
    socket.write(Buffer.concat([Buffer.from(preface), settings]));
    const closed = once(socket, "close");
    const resets = Array.from({ length: 5000 }, (_, i) =>
      Buffer.concat([
        frame(1, 4, 2 * i + 1, headerBlock(echoPath)),
        frame(3, 0, 2 * i + 1, Buffer.from([0, 0, 0, 8])),
      ]),
    );
    socket.write(Buffer.concat(resets));
    await closed;
    await served();
    expect(server.server.stats().streamsOpened).toBeLessThan(5000);
    expect(server.server.stats().cuts).toEqual({ "protocol-error": 1 });
    call.stream.close();
  });

  test("CVE-2024-37168: a length alone takes no memory", async () => {
    const server = await useServer({ handler: () => ({ admits: () => true }) });
    const client = await server.client();
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const head = enveloped("");
    head.writeUInt32BE(4 * 1024 * 1024, 1);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    const calls = Array.from({ length: 200 }, () => client.call(echoPath));
    for (const call of calls) call.stream.write(head);
    await client.roundTrip();
    collect();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    for (const call of calls) call.stream.close();
  });

  test.for([
    [
      "a stream that starts with DATA",
      Buffer.concat([Buffer.from(preface), settings, frame(0, 0, 1, enveloped("x"))]),
    ],
    ["a compressed message", Buffer.concat([opened(), frame(0, 0, 1, enveloped("x", 1))])],
    ["a flag that does not exist", Buffer.concat([opened(), frame(0, 0, 1, enveloped("x", 0x81))])],
    ["a message that never began", Buffer.concat([opened(), frame(0, 1, 1, Buffer.alloc(0))])],
  ] as const)(
    "CVE-2026-48068, CVE-2026-48069, CVE-2026-48044: %s ends at most its connection",
    async ([, bytes]) => {
      const server = await useServer();
      const { call, served } = await witness(server);
      const socket = await useSocket(server.port);
      socket.write(bytes);
      socket.end();
      await once(socket, "close");
      await served();
      expect(server.server.stats().faults).toBe(0);
      call.stream.close();
    },
  );

  test("CVE-2026-101915: what a handler throws is not told to its peer", async () => {
    const server = await useServer({
      handler: () => ({
        onMessage() {
          throw new Error("password=hunter2");
        },
      }),
    });
    const call = (await server.client()).call(echoPath);
    call.stream.write(enveloped("x"));
    const { trailers } = await call.result;
    expect([trailers["grpc-status"], trailers["grpc-message"]]).toEqual([
      String(StatusCode.INTERNAL),
      "internal error",
    ]);
    expect(server.events.find(({ kind }) => kind === "fault")).toBeDefined();
  });

  test.for([
    `${echoPath}x`,
    `${echoPath}/x`,
    echoPath.slice(0, -1),
    `${echoPath}?a`,
    echoPath.slice(1),
    `/${echoPath}`,
    echoPath.toUpperCase(),
    `${echoPath}%00`,
    "*",
    "",
  ])("CVE-2026-33186, CVE-2026-101914: %j is not the method", async (path) => {
    const server = await useServer();
    const socket = await useSocket(server.port);
    const answered =
      path === "" ? once(socket, "data") : received(socket, Buffer.from([0, 0, 0, 1]));
    socket.write(opened(path));
    await answered;
    expect(server.calls).toEqual([]);
  });

  test("CVE-2026-48854: a body that trickles in has a deadline, and so has the first message", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const client = await server.client();
    const [good, slow] = [client.call(echoPath), client.call(echoPath)];
    good.stream.write(enveloped("x"));
    await good.next();
    slow.stream.write(enveloped("a longer message").subarray(0, 6));
    await client.roundTrip();
    server.clock.advance(30_000);
    expect((await slow.result).trailers["grpc-status"]).toBe(String(StatusCode.DEADLINE_EXCEEDED));
    expect(server.server.stats().cuts).toEqual({ "slow-message": 1 });
    good.stream.close();
  });
});
