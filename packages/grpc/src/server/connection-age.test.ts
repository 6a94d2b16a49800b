import { once } from "node:events";
import { StatusCode } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { enveloped, type RawClientCall } from "../../test/raw-client.ts";
import { echoPath, useServer, type TestServer } from "../../test/use-server.ts";
import { createGrpcServer } from "./grpc-server.ts";

async function speaking(server: TestServer): Promise<{
  readonly call: RawClientCall;
  readonly goaway: Promise<unknown>;
  readonly closed: Promise<void>;
}> {
  const client = await server.client();
  const call = client.call(echoPath);
  call.stream.write(enveloped("x"));
  await call.next();
  return { call, goaway: once(client.session, "goaway"), closed: client.closed };
}

const options = {
  connectionAge: { ms: 100_000, graceMs: 1000 },
  limits: { pingMs: 100_000_000, stalledMs: 100_000_000 },
};

/** Advances the clock to the time at which the first connection gets GOAWAY. */
function becomeOld(server: TestServer): void {
  while (server.server.stats().connectionsRetired === 0) server.clock.advance(100);
}

describe("connectionAge", () => {
  test("tells an old connection to go, serves its streams for the grace, and ends them with UNAVAILABLE [S-STREAM-13]", async () => {
    const server = await useServer(options);
    const { call, goaway, closed } = await speaking(server);
    server.clock.advance(89_999);
    expect(server.server.stats()).toMatchObject({ connections: 1, connectionsRetired: 0 });
    becomeOld(server);
    await goaway;
    call.stream.write(enveloped("still served"));
    expect((await call.next()).toString()).toBe("still served");
    server.clock.advance(1000);
    expect((await call.result).trailers).toMatchObject({
      "grpc-status": String(StatusCode.UNAVAILABLE),
      "grpc-message": "the connection has reached its age: connect again",
    });
    await closed;
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({
      connections: 0,
      connectionsRetired: 1,
      cuts: {},
    });
  });

  test("spreads connections that began together over a fifth of the age [S-STREAM-13]", async () => {
    const server = await useServer(options);
    for (let i = 0; i < 40; i += 1) await server.client();
    server.clock.advance(90_000);
    const retired = Array.from({ length: 4 }, () => {
      server.clock.advance(5_000);
      return server.server.stats().connectionsRetired;
    });
    expect(retired.at(-1)).toBe(40);
    expect(new Set(retired).size).toBeGreaterThan(2);
  });

  test("cuts what does not go [S-STREAM-13]", async () => {
    const server = await useServer(options);
    const { call } = await speaking(server);
    call.stream.pause();
    server.calls[0]?.out.send({
      bytes: Buffer.alloc(3_000_000),
      enveloped: enveloped(Buffer.alloc(3_000_000)),
    });
    becomeOld(server);
    server.clock.advance(1000);
    server.clock.advance(1000);
    await server.event("connection-closed");
    expect(server.server.stats().cuts).toEqual({ "age-grace": 1 });
  });

  test("rejects an age that is none", () => {
    expect(() =>
      createGrpcServer({
        accept: () => ({ code: 14, message: "" }),
        isStreaming: () => true,
        connectionAge: { ms: 0 },
      }),
    ).toThrow("connectionAge.ms is 0");
  });
});

describe("close({ spreadMs })", () => {
  test("tells all clients to go at once, takes no new calls, and ends their streams one after the other [S-STREAM-13]", async () => {
    const server = await useServer({ limits: { pingMs: 100_000_000 } });
    const clients = await Promise.all(Array.from({ length: 20 }, async () => speaking(server)));
    let ended = 0;
    const results = clients.map(async ({ call }) => {
      const result = await call.result;
      ended += 1;
      return result.trailers["grpc-status"];
    });
    const closed = server.server.close({ spreadMs: 10_000 });
    await Promise.all(clients.map(async ({ goaway }) => goaway));
    expect(ended).toBe(0);
    const steps = new Set<number>();
    for (let step = 0; step < 10; step += 1) {
      server.clock.advance(1000);
      steps.add(20 - server.calls.filter((seen) => seen.closedTimes === 0).length);
      for (let turn = 0; turn < 20; turn += 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    }
    expect(await Promise.all(results)).toEqual(
      Array.from({ length: 20 }, () => String(StatusCode.UNAVAILABLE)),
    );
    expect(steps.size).toBeGreaterThan(2);
    await closed;
    expect(server.server.stats()).toMatchObject({ connections: 0, cuts: {} });
  });
});
