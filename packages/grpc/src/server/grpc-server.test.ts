import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatusCode, XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { echoPath, messageOf, useServer, type TestServer } from "../../test/use-server.ts";
import { createGrpcServer, type GrpcServer } from "./grpc-server.ts";

const rejectAll = {
  accept: () => ({ code: StatusCode.UNAVAILABLE, message: "" }),
  isStreaming: () => true,
};

function useGrpcJs(server: TestServer): grpc.Client {
  const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  onTestFinished(() => {
    client.close();
  });
  return client;
}

function stream(client: grpc.Client): grpc.ClientDuplexStream<Buffer, Buffer> {
  const same = (bytes: Buffer): Buffer => bytes;
  return client.makeBidiStreamRequest(echoPath, same, same);
}

async function statusOf(call: grpc.ClientDuplexStream<Buffer, Buffer>): Promise<grpc.StatusObject> {
  call.on("error", () => {
    /* the status tells */
  });
  return await new Promise((resolve) => {
    call.on("status", resolve);
  });
}

describe("createGrpcServer() with grpc-js as the client", () => {
  test("echoes messages of many sizes and ends with a status text beyond ASCII", async () => {
    const server = await useServer({
      handler: ({ out }) => ({
        onEnd() {
          out.close({ code: StatusCode.NOT_FOUND, message: "größer als 100 % 🚀" });
        },
      }),
    });
    const call = stream(useGrpcJs(server));
    for (const size of [0, 1, 16_384, 65_536, 3_000_000]) {
      const sent = Buffer.alloc(size, size % 251);
      const answer = once(call, "data");
      call.write(sent);
      expect(sent.equals((await answer)[0] as Buffer)).toBe(true);
    }
    const status = statusOf(call);
    call.end();
    expect(await status).toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: "größer als 100 % 🚀",
    });
  });

  test("shows it every way in which a call is rejected", async () => {
    const server = await useServer({
      limits: { maxMessageBytes: 1000 },
      handler: () => ({ onEnd: () => undefined }),
    });
    const client = useGrpcJs(server);
    const large = stream(client);
    large.write(Buffer.alloc(1001));
    expect(await statusOf(large)).toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
      details: "the message is larger than this server reads",
    });
    const unknown = client.makeBidiStreamRequest(
      "/test.Echo/None",
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
    );
    expect(await statusOf(unknown)).toMatchObject({
      code: grpc.status.UNIMPLEMENTED,
      details: "unknown method",
    });
    const silent = stream(client);
    const seen = statusOf(silent);
    await server.event("stream-opened", () => server.calls.length === 2);
    silent.cancel();
    expect((await seen).code).toBe(grpc.status.CANCELLED);
    expect(await server.calls.at(-1)?.closed).toMatchObject({ code: StatusCode.CANCELLED });
  });

  test("ends its streams in order when it closes: what was sent arrives first [S-STREAM-13]", async () => {
    const server = await useServer();
    const client = useGrpcJs(server);
    const calls = Array.from({ length: 100 }, () => stream(client));
    await Promise.all(
      calls.map(async (call) => {
        const answer = once(call, "data");
        call.write(Buffer.from("hello"));
        await answer;
      }),
    );
    const got = calls.map(() => 0);
    for (const [index, call] of calls.entries())
      call.on("data", (bytes: Buffer) => {
        got[index] = (got[index] ?? 0) + bytes.length;
      });
    const statuses = calls.map(statusOf);
    for (const seen of server.calls) seen.out.send(messageOf(Buffer.alloc(100_000)));
    const closed = server.server.close({ graceMs: 60_000 });
    expect((await Promise.all(statuses)).map(({ code, details }) => [code, details])).toEqual(
      calls.map(() => [grpc.status.UNAVAILABLE, "the server is shutting down"]),
    );
    expect(got).toEqual(calls.map(() => 100_000));
    client.close();
    await closed;
    expect(server.server.stats()).toMatchObject({ connections: 0, streams: 0, cuts: {} });
  });
});

describe("createGrpcServer()", () => {
  test("counts and tells what happens", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath);
    call.stream.write(enveloped("x"));
    await call.next();
    call.stream.end();
    await server.event("stream-closed");
    expect(server.events.map((event) => event.kind)).toEqual([
      "connection-opened",
      "stream-opened",
      "stream-closed",
    ]);
    expect(server.server.stats()).toEqual({
      connections: 1,
      streams: 0,
      calls: 0,
      connectionsOpened: 1,
      connectionsRetired: 0,
      connectionsFilled: 0,
      streamsOpened: 1,
      callsOpened: 0,
      messagesReceived: 1,
      messagesSent: 1,
      faults: 0,
      cuts: {},
    });
  });

  test("survives a listener of events and a choice of methods that throw", async () => {
    const bug = (): never => {
      throw new Error("bug");
    };
    const server = await useServer({ onEvent: bug });
    const call = (await server.client()).call(echoPath);
    call.stream.write(enveloped("x"));
    expect((await call.next()).toString()).toBe("x");
    expect(server.server.stats().faults).toBe(2);
    call.stream.close();
    const other = await useServer({ isStreaming: bug });
    expect((await (await other.client()).call(echoPath).result).rstCode).toBe(2);
    expect(other.server.stats().faults).toBe(1);
  });

  test("cuts what is still open when the grace is over, and rejects new calls at once [S-STREAM-13]", async () => {
    const server = await useServer();
    const client = await server.client();
    const stuck = client.call(echoPath);
    stuck.stream.pause();
    await server.event("stream-opened");
    server.calls[0]?.out.send(messageOf(Buffer.alloc(3_000_000)));
    const closed = server.server.close({ graceMs: 5000 });
    const late = client.call(echoPath);
    await late.result;
    expect(server.calls).toHaveLength(1);
    server.clock.advance(4999);
    expect(server.server.stats().connections).toBe(1);
    server.clock.advance(1);
    await closed;
    expect(server.server.stats()).toMatchObject({
      connections: 0,
      streams: 0,
      cuts: { "drain-grace": 1 },
    });
    expect(await server.calls[0]?.closed).toEqual({
      code: StatusCode.UNAVAILABLE,
      message: "the server is shutting down",
    });
  });

  test("closes at once with idle clients, and gives a second call the same promise [S-STREAM-13]", async () => {
    const server = await useServer();
    const client = await server.client();
    const closed = server.server.close();
    expect(server.server.close()).toBe(closed);
    await closed;
    await client.closed;
    const session: ClientHttp2Session = connectHttp2(`http://127.0.0.1:${server.port}`);
    const [error] = (await once(session, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
  });

  test("names the address when its port is taken, and may listen elsewhere then", async () => {
    const { port } = await useServer();
    const server: GrpcServer = createGrpcServer({ ...rejectAll, clock: createFakeClock() });
    const rejected = server.listen({ port });
    await expect(rejected).rejects.toBeInstanceOf(XdsError);
    await expect(rejected).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port} (EADDRINUSE): another program has this port`,
    );
    const bound = await server.listen({ port: 0 });
    expect(bound.address).toBe("127.0.0.1");
    await expect(server.listen({ port: 0 })).rejects.toThrow("listens already");
    await server.close();
    await expect(server.listen({ port: 0 })).rejects.toThrow("is closed");
    expect(server.stats().faults).toBe(0);
  });

  test("listens at a path of the file system, for grpc-js too, and leaves no file behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "xdstp-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const path = join(folder, "s");
    const server = createGrpcServer({
      ...rejectAll,
      accept: () => ({ code: StatusCode.NOT_FOUND, message: "here" }),
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    expect(await server.listen({ path })).toEqual({ address: `unix:${path}`, port: 0 });
    const client = new grpc.Client(`unix:${path}`, grpc.credentials.createInsecure());
    expect(await statusOf(stream(client))).toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: "here",
    });
    client.close();
    await expect(createGrpcServer(rejectAll).listen({ path })).rejects.toThrow(
      `cannot listen on unix:${path} (EADDRINUSE): there is such a file`,
    );
    await expect(
      createGrpcServer(rejectAll).listen({ path: join(folder, "none", "s") }),
    ).rejects.toThrow("choose a short path in a folder that there is");
    await server.close({ graceMs: 0 });
    expect(existsSync(path)).toBe(false);
  });

  test("closes without ever having listened", async () => {
    await createGrpcServer(rejectAll).close();
  });

  test("rejects a limit it cannot keep", () => {
    expect(() => createGrpcServer({ ...rejectAll, limits: { pingMs: 0 } })).toThrow(
      "limits.pingMs is 0",
    );
  });
});
