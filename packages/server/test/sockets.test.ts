import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import { XdsError } from "@xdstp/core";
import {
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type DiscoveryResponse,
} from "@xdstp/protos/discovery";
import { createFakeClock } from "@xdstp/testing";
import { SERVICES } from "@xdstp/protos/services";
import { afterEach, describe, expect, it } from "vitest";
import {
  createServer,
  type ServerEvent,
  type ServerOptions,
  type XdsServer,
} from "../src/index.ts";
import {
  createClient,
  nameIn,
  payload,
  readResponse,
  type TestClient,
  type TestResponse,
} from "./client.ts";
import { connectTo, openCall, requestsOf, type GrpcCall } from "./grpc-call.ts";
import { fetchPath, paths, readyCache, types, variants } from "./harness.ts";

const open = new Set<XdsServer | ClientHttp2Session>();

afterEach(async () => {
  for (const one of open) {
    if ("accept" in one) await one.close({ graceMs: 1 });
    else one.destroy();
  }
  open.clear();
});

/** Starts a server on a free port, and connects to it. */
async function listening(
  cache: Cache,
  options: Partial<ServerOptions> = {},
): Promise<{
  readonly server: XdsServer;
  readonly port: number;
  readonly session: ClientHttp2Session;
}> {
  const server = createServer({ source: cache, ...options });
  open.add(server);
  const { port } = await server.listen({ port: 0 });
  return { server, port, session: await connected(port) };
}

async function connected(port: number): Promise<ClientHttp2Session> {
  const session = await connectTo(port);
  open.add(session);
  return session;
}

/** Opens a streaming call, with a client for its requests. */
function streaming(
  session: ClientHttp2Session,
  path: string,
): {
  readonly call: GrpcCall;
  readonly client: TestClient;
  readonly next: () => Promise<TestResponse>;
} {
  const variant = path.includes("/Delta") ? "delta" : "sotw";
  const call = openCall(session, path);
  return {
    call,
    client: createClient(requestsOf(call), variant, {
      id: "n",
      clientFeatures: ["xds.config.resource-in-sotw"],
    }),
    async next() {
      const bytes = await call.next();
      if (bytes === undefined)
        throw new Error(`the call ended: ${JSON.stringify(await call.status)}`);
      return readResponse(bytes, variant);
    },
  };
}

async function fetched(
  session: ClientHttp2Session,
  path: string,
  request: Omit<MessageInitShape<typeof DiscoveryRequestSchema>, "$typeName">,
): Promise<DiscoveryResponse | Awaited<GrpcCall["status"]>> {
  const call = openCall(session, path);
  call.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)));
  call.end();
  const bytes = await call.next();
  return bytes === undefined ? call.status : fromBinary(DiscoveryResponseSchema, bytes);
}

describe("createServer() over sockets", () => {
  it("answers on every method of every service [B-STREAM-2]", async () => {
    const cache = readyCache();
    const session = (await listening(cache)).session;
    for (const { typeUrl = types.cluster } of SERVICES)
      cache.put({ typeUrl, name: "a", value: payload("a") });
    for (const { service, typeUrl = types.cluster, sotw, delta, fetch } of SERVICES) {
      for (const method of [sotw, delta]) {
        if (method === undefined) continue;
        const { client, next, call } = streaming(session, `/${service}/${method}`);
        client.ask(typeUrl, ["a"]);
        expect(await next()).toMatchObject({ typeUrl, names: ["a"] });
        call.end();
        expect(await call.status).toEqual({ code: 0, message: "" });
      }
      if (fetch === undefined) continue;
      const answer = await fetched(session, `/${service}/${fetch}`, {
        node: { id: "n" },
        resourceNames: ["a"],
      });
      expect(answer).toMatchObject({ typeUrl });
      expect("resources" in answer && answer.resources.map(({ value }) => nameIn(value))).toEqual([
        "a",
      ]);
    }
  });

  it.each([
    "/envoy.service.route.v3.VirtualHostDiscoveryService/StreamVirtualHosts",
    "/envoy.service.endpoint.v3.LocalityEndpointDiscoveryService/StreamLocalityEndpoints",
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/FetchAggregatedResources",
    "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources",
  ])("answers UNIMPLEMENTED where there is no method: %s [B-STREAM-2]", async (path) => {
    const { session, server } = await listening(readyCache());
    expect(await openCall(session, path).status).toEqual({ code: 12, message: "unknown method" });
    expect(server.accept(path, "p", { send: () => true, close: () => undefined })).toEqual({
      code: 12,
      message: "unknown method",
    });
  });

  it.each([
    ...variants.map((variant) => [variant, paths[variant]] as const),
    ["fetch", fetchPath] as const,
  ])("answers UNAVAILABLE until the source is ready (%s) [S-STREAM-9]", async (_variant, path) => {
    const { session } = await listening(createCache());
    const call = openCall(session, path);
    call.send(
      toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "n" } })),
    );
    call.end();
    expect(await call.status).toEqual({
      code: 14,
      message: "the first complete state is not loaded yet",
    });
  });

  it("answers a Fetch with a status and a fixed text where there is no answer (fetch) [S-REST-9]", async () => {
    const { session } = await listening(readyCache());
    expect(await fetched(session, fetchPath, {})).toEqual({
      code: 3,
      message: "the first message has no node",
    });
    expect(
      await fetched(session, fetchPath, { node: { id: "n" }, typeUrl: types.listener }),
    ).toEqual({ code: 3, message: "type_url is not the type of this service" });
  });

  it("says to a client that wants JSON where it cannot have it (fetch) [S-REST-9]", async () => {
    const { session } = await listening(readyCache());
    const stream = session.request({
      ":method": "POST",
      ":path": fetchPath,
      "content-type": "application/json",
    });
    stream.end(JSON.stringify({ node: { id: "n" } }));
    const [chunk] = (await once(stream, "data")) as [Buffer];
    expect(JSON.parse(chunk.toString())).toEqual({
      code: "unimplemented",
      message:
        "a Fetch holds resources of any type and is binary: send application/grpc or application/proto",
    });
    stream.destroy();
  });

  it("serves a Fetch of one's own from a row of data (fetch) [B-STREAM-4]", async () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.own, name: "dark-mode", value: Uint8Array.of(8, 1) });
    const { session } = await listening(cache, {
      services: [
        { typeUrl: types.own, service: "acme.v1.FlagDiscoveryService", fetch: "FetchFlags" },
      ],
    });
    const answer = await fetched(session, "/acme.v1.FlagDiscoveryService/FetchFlags", {
      node: { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] },
      resourceNames: ["dark-mode"],
    });
    expect(answer).toMatchObject({
      typeUrl: types.own,
      resources: [{ typeUrl: "type.googleapis.com/envoy.service.discovery.v3.Resource" }],
    });
    expect(await openCall(session, fetchPath).status).toEqual({
      code: 12,
      message: "unknown method",
    });
  });

  it.each(variants)(
    "ends the stream of a message that cannot be decoded, not its neighbours on the connection (%s) [S-STREAM-7]",
    async (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      const { session } = await listening(cache);
      const [broken, healthy] = [
        streaming(session, paths[variant]),
        streaming(session, paths[variant]),
      ];
      broken.call.send(Uint8Array.of(0xff, 0xff, 0xff));
      expect(await broken.call.status).toEqual({
        code: 3,
        message: "the request cannot be decoded",
      });
      healthy.client.ask(types.cluster, ["a"]);
      expect((await healthy.next()).names).toEqual(["a"]);
    },
  );

  it.each(variants)(
    "closes with 100 clients: what is due goes out, each stream ends with OK (%s) [S-STREAM-13]",
    async (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      const { server, port } = await listening(cache);
      const sessions = await Promise.all(Array.from({ length: 10 }, () => connected(port)));
      const streams = sessions.flatMap((session) =>
        Array.from({ length: 10 }, () => streaming(session, paths[variant])),
      );
      for (const { client } of streams) client.ask(types.cluster, ["a"]);
      for (const { client, next } of streams) client.ack(await next());
      await until(
        server,
        (rows) =>
          rows.length === 100 && rows.every(({ types: [type] }) => type?.state === "SYNCED"),
      );

      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
      const closing = server.close();
      for (const { next, call } of streams) {
        expect((await next()).names).toEqual(["a"]);
        expect(await call.status).toEqual({ code: 0, message: "the server is shutting down" });
      }
      await closing;
      expect(server.stats().wire).toMatchObject({ connections: 0, streams: 0, faults: 0 });
      expect(server.status()).toEqual([]);
    },
  );

  it.each(variants)(
    "closes over a time with 20 clients: all are served on until each stream ends at a time of its own (%s) [S-STREAM-13]",
    async (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      const clock = createFakeClock();
      const { server, port } = await listening(cache, { clock });
      const sessions = await Promise.all(Array.from({ length: 20 }, () => connected(port)));
      const streams = sessions.map((session) => streaming(session, paths[variant]));
      for (const { client } of streams) client.ask(types.cluster, ["a"]);
      for (const { client, next } of streams) client.ack(await next());
      await until(server, (rows) => rows.every(({ types: [type] }) => type?.state === "SYNCED"));
      const goaways = sessions.map(async (session) => once(session, "goaway"));
      const closing = server.close({ spreadMs: 10_000, graceMs: 60_000 });
      await Promise.all(goaways);
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
      for (const { next } of streams) expect((await next()).names).toEqual(["a"]);
      clock.advance(10_000);
      for (const { call } of streams)
        expect(await call.status).toEqual({ code: 14, message: "the server is shutting down" });
      for (const session of sessions) session.destroy();
      await closing;
      expect(server.stats().wire).toMatchObject({ connections: 0, streams: 0, cuts: {} });
    },
  );

  it("tells where it listens, and what happens on the wire", async () => {
    const events: ServerEvent[] = [];
    const { server, port, session } = await listening(readyCache(), {
      nodeVersion: "99.0.0",
      onEvent: (event) => {
        events.push(event);
      },
    });
    await expect(server.listen({ port: 0 })).rejects.toThrow(XdsError);
    const other = createServer({ source: readyCache() });
    await expect(other.listen({ port })).rejects.toThrow(`127.0.0.1:${port}`);
    await other.close();
    await expect(other.listen({ port: 0 })).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    const { call, client, next } = streaming(session, paths["delta/ads"]);
    client.ask(types.cluster, ["*"]);
    await next();
    call.end();
    await call.status;
    await server.close();
    expect(events.map(({ kind }) => kind)).toEqual([
      "connection-opened",
      "stream-opened",
      "connect",
      "subscribe",
      "push",
      "disconnect",
      "stream-closed",
      "connection-closed",
    ]);
    expect(server.stats()).toMatchObject({
      wire: { streamsOpened: 1, messagesSent: 1 },
      frames: { encoded: 0 },
    });
  });

  it("lives when its listener throws on everything that happens", async () => {
    const cache = readyCache();
    const { session, server } = await listening(cache, {
      onEvent: () => {
        throw new Error("listener");
      },
    });
    const { call, client, next } = streaming(session, paths["sotw/ads"]);
    client.ask(types.cluster, ["*"]);
    client.ack(await next());
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    expect((await next()).names).toEqual(["a"]);
    call.end();
    expect(await call.status).toEqual({ code: 0, message: "" });
    expect(server.stats().wire.faults).toBe(0);
  });

  it("keeps the wire to the limits that it was given [S-LIM-1]", async () => {
    const { session, server } = await listening(readyCache(), {
      limits: { wire: { maxStreams: 1 } },
    });
    const { client, next } = streaming(session, paths["delta/ads"]);
    client.ask(types.cluster, ["*"]);
    await next();
    expect(await openCall(session, paths["delta/ads"]).status).toMatchObject({ code: 8 });
    expect(server.stats().wire.cuts).toEqual({ "too-many-streams": 1 });
  });

  it("closes at the end of its scope", async () => {
    const portInScope = async (): Promise<number> => {
      await using server = createServer({ source: readyCache() });
      return (await server.listen({ port: 0 })).port;
    };
    await expect(connectTo(await portInScope())).rejects.toThrow("ECONNREFUSED");
  });
});

/** Waits for a state of the server that depends only on messages that are already under way. */
async function until(
  server: XdsServer,
  reached: (rows: ReturnType<XdsServer["status"]>) => boolean,
): Promise<void> {
  while (!reached(server.status()))
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
