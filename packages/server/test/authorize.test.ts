import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { ClientStatusRequestSchema, ClientStatusResponseSchema } from "@xdstp/protos/status";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer, type Peer } from "../src/index.ts";
import { createClient, payload, readResponse } from "./client.ts";
import { openCall, requestsOf, type GrpcCall } from "./grpc-call.ts";
import { fetchPath, paths, readyCache, types, variants } from "./harness.ts";

const authority = createTestAuthority();
const statusPath = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";

/**
 * Creates a server on which each tenant sees the clusters that begin with its name. The server
 * reads the tenant from the certificate.
 */
async function tenants(): Promise<{
  readonly asked: readonly Peer[];
  readonly as: (tenant: string) => Promise<ClientHttp2Session>;
}> {
  const cache = readyCache();
  for (const name of ["x-1", "y-1"])
    cache.put({ typeUrl: types.cluster, name, value: payload(name) });
  const asked: Peer[] = [];
  const server = createServer({
    source: cache,
    tls: { ...authority.issue({ dnsNames: ["localhost"] }), clientCa: authority.cert },
    authorize(peer) {
      asked.push(peer);
      const tenant = peer.identity?.uris[0]?.replace("spiffe://td/", "");
      if (tenant === undefined || tenant === "nobody")
        throw new XdsError("PERMISSION_DENIED", "no such tenant");
      return { key: tenant, allows: (_, name) => name.startsWith(`${tenant}-`) };
    },
  });
  onTestFinished(async () => server.close({ graceMs: 1 }));
  const { port } = await server.listen({ port: 0 });
  const as = async (tenant: string): Promise<ClientHttp2Session> => {
    const session = connect(`https://localhost:${port}`, {
      ca: authority.cert,
      ...authority.issue({ uris: [`spiffe://td/${tenant}`] }),
    });
    onTestFinished(() => {
      session.destroy();
    });
    await once(session, "connect");
    return session;
  };
  return { asked, as };
}

function askOnce(session: ClientHttp2Session, path: string, request: Uint8Array): GrpcCall {
  const call = openCall(session, path);
  call.send(request);
  call.end();
  return call;
}

const fetchRequest = toBinary(
  DiscoveryRequestSchema,
  create(DiscoveryRequestSchema, { node: { id: "y" }, resourceNames: ["*"] }),
);
const statusRequest = toBinary(ClientStatusRequestSchema, create(ClientStatusRequestSchema, {}));

describe("createServer({ authorize }) over TLS", () => {
  it.each(variants)(
    "shows a client what its certificate allows, whatever node id it claims (%s) [S-NODE-8] [S-LIM-8]",
    async (variant) => {
      const { asked, as } = await tenants();
      const kind = variant.startsWith("delta") ? "delta" : "sotw";
      const ask = async (tenant: string): Promise<GrpcCall> => {
        const call = openCall(await as(tenant), paths[variant]);
        createClient(requestsOf(call), kind, { id: "y" }).ask(types.cluster, ["*"]);
        return call;
      };
      expect(readResponse((await (await ask("x")).next()) ?? new Uint8Array(), kind).names).toEqual(
        ["x-1"],
      );
      expect(asked).toMatchObject([
        { node: { id: "y" }, identity: { uris: ["spiffe://td/x"] }, path: paths[variant] },
      ]);
      expect(await (await ask("nobody")).status).toEqual({ code: 7, message: "not allowed" });
    },
  );

  it("does the same for a Fetch and for client status [S-NODE-8] [S-LIM-8] [B-CSDS-7]", async () => {
    const { asked, as } = await tenants();
    const [x, y, noSubscribers] = [await as("x"), await as("y"), await as("nobody")];
    const stream = openCall(y, paths["delta/ads"]);
    createClient(requestsOf(stream), "delta", { id: "y" }).ask(types.cluster, ["*"]);
    await stream.next();

    const fetched = await askOnce(x, fetchPath, fetchRequest).next();
    expect(fromBinary(DiscoveryResponseSchema, fetched ?? new Uint8Array()).resources).toHaveLength(
      1,
    );
    const statusOf = async (session: ClientHttp2Session): Promise<readonly string[]> => {
      const bytes = await askOnce(session, statusPath, statusRequest).next();
      return fromBinary(ClientStatusResponseSchema, bytes ?? new Uint8Array()).config.flatMap(
        ({ genericXdsConfigs }) => genericXdsConfigs.map(({ name }) => name),
      );
    };
    expect([await statusOf(x), await statusOf(y)]).toEqual([[], ["y-1"]]);
    for (const [path, request] of [
      [fetchPath, fetchRequest],
      [statusPath, statusRequest],
    ] as const) {
      expect(await askOnce(noSubscribers, path, request).status).toEqual({
        code: 7,
        message: "not allowed",
      });
    }
    expect(asked.map(({ path }) => path)).toEqual([
      paths["delta/ads"],
      fetchPath,
      statusPath,
      statusPath,
      fetchPath,
      statusPath,
    ]);
  });
});
