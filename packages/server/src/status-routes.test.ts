import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
  ConfigStatus,
} from "@xdstp/protos/status";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../test/client.ts";
import { connectTo, openCall, requestsOf, type GrpcCall } from "../test/grpc-call.ts";
import { paths, readyCache, types } from "../test/harness.ts";
import { createServer, type ServerOptions, type XdsServer } from "./index.ts";

type StatusRequest = NonNullable<Parameters<XdsServer["clientStatus"]>[0]>;

const open: (XdsServer | ClientHttp2Session)[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) {
    if ("accept" in one) await one.close({ graceMs: 1 });
    else one.destroy();
  }
});

async function useServer(
  options: Partial<ServerOptions> = {},
): Promise<{ readonly session: ClientHttp2Session; readonly server: XdsServer }> {
  const cache = readyCache();
  cache.put({ typeUrl: types.cluster, name: "a", value: Uint8Array.of(10, 1, 97) });
  const server = createServer({ source: cache, ...options });
  open.unshift(server);
  const { port } = await server.listen({ port: 0 });
  const session = await connectTo(port);
  open.unshift(session);
  return { session, server };
}

const service = "/envoy.service.status.v3.ClientStatusDiscoveryService";

function ask(call: GrpcCall, request: StatusRequest): void {
  call.send(toBinary(ClientStatusRequestSchema, create(ClientStatusRequestSchema, request)));
}

async function next(
  call: GrpcCall,
): Promise<readonly (readonly [name: string, status: ConfigStatus])[]> {
  const bytes = await call.next();
  if (bytes === undefined) throw new Error(`the call ended: ${JSON.stringify(await call.status)}`);
  return fromBinary(ClientStatusResponseSchema, bytes).config.flatMap(({ genericXdsConfigs }) =>
    genericXdsConfigs.map(({ name, configStatus }) => [name, configStatus] as const),
  );
}

describe("ClientStatusDiscoveryService", () => {
  it("answers a fetch, and each request of a stream with the state as it is then [B-CSDS-1]", async () => {
    const { session } = await useServer();
    const xds = openCall(session, paths["delta/ads"]);
    const client = createClient(requestsOf(xds), "delta");
    const status = openCall(session, `${service}/StreamClientStatus`);
    ask(status, {});
    expect(await next(status)).toEqual([]);
    client.ask(types.cluster, ["a"]);
    await xds.next();
    ask(status, {});
    expect(await next(status)).toEqual([["a", ConfigStatus.STALE]]);
    const fetched = openCall(session, `${service}/FetchClientStatus`);
    ask(fetched, {});
    fetched.end();
    expect(await next(fetched)).toEqual([["a", ConfigStatus.STALE]]);
    status.end();
    expect(await status.status).toMatchObject({ code: 0 });
  });

  it("ends a stream that waits for a request when the server closes, within no grace [S-STREAM-13]", async () => {
    const { session, server } = await useServer();
    const status = openCall(session, `${service}/StreamClientStatus`);
    ask(status, {});
    await next(status);
    const closing = server.close({ graceMs: 60_000 });
    expect(await status.status).toEqual({ code: 14, message: "the server is shutting down" });
    session.close();
    await closing;
    expect(server.stats().wire).toMatchObject({ calls: 0, connections: 0, faults: 0, cuts: {} });
  });

  it("ends a call whose matchers it cannot apply with INVALID_ARGUMENT [B-CSDS-5]", async () => {
    const { session } = await useServer();
    const status = openCall(session, `${service}/StreamClientStatus`);
    ask(status, { nodeMatchers: [{ nodeMetadatas: [{}] }] });
    expect(await status.status).toMatchObject({
      code: 3,
      message: expect.stringContaining("node_id") as string,
    });
  });

  it("answers JSON without contents only, since it may hold types of anybody [B-CSDS-1]", async () => {
    const { session } = await useServer();
    const post = async (body: object): Promise<number> => {
      const stream = session.request({
        ":method": "POST",
        ":path": `${service}/FetchClientStatus`,
        "content-type": "application/json",
      });
      stream.end(JSON.stringify(body));
      const [headers] = (await once(stream, "response")) as [{ readonly ":status": number }];
      stream.close();
      return headers[":status"];
    };
    expect(await post({ excludeResourceContents: true })).toBe(200);
    expect(await post({})).toBe(501);
  });

  it("asks for each request whether this caller may read it, and tells others nothing [B-CSDS-7]", async () => {
    const asked: string[] = [];
    let may = true;
    const { session } = await useServer({
      clientStatus: ({ address }) => {
        asked.push(address);
        return may;
      },
    });
    const status = openCall(session, `${service}/StreamClientStatus`);
    ask(status, {});
    expect(await next(status)).toEqual([]);
    may = false;
    ask(status, {});
    expect(await status.status).toEqual({
      code: 7,
      message: "this client may not read the status of others",
    });
    expect(asked).toEqual([expect.stringContaining("127.0.0.1:"), asked[0]]);
  });

  it("tells nothing, and goes on, where that decision is broken [B-CSDS-7]", async () => {
    const events: string[] = [];
    const { session } = await useServer({
      clientStatus: async () => Promise.reject(new Error("directory is away")),
      onEvent: ({ kind }) => {
        events.push(kind);
      },
    });
    const status = openCall(session, `${service}/FetchClientStatus`);
    ask(status, {});
    status.end();
    expect(await status.status).toEqual({ code: 13, message: "internal error" });
    expect(events).toContain("fault");
  });

  it("is not there where a server does not offer it", async () => {
    const { session } = await useServer({ clientStatus: false });
    const status = openCall(session, `${service}/FetchClientStatus`);
    expect(await status.status).toMatchObject({ code: 12 });
  });
});
