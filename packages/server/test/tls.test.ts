import { connect, type ClientHttp2Session, type SecureClientSessionOptions } from "node:http2";
import { once } from "node:events";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer } from "../src/index.ts";
import { createClient, payload, readResponse } from "./client.ts";
import { openCall, requestsOf } from "./grpc-call.ts";
import { paths, readyCache, types, variants } from "./harness.ts";

const authority = createTestAuthority();
const mutual = (): { readonly cert: string; readonly key: string; readonly clientCa: string } => ({
  ...authority.issue({ dnsNames: ["localhost"] }),
  clientCa: authority.cert,
});

async function connected(
  port: number,
  options: SecureClientSessionOptions,
): Promise<ClientHttp2Session> {
  const session = connect(`https://localhost:${port}`, options);
  onTestFinished(() => {
    session.destroy();
  });
  await once(session, "connect");
  return session;
}

describe("createServer() with TLS", () => {
  it.each(variants)(
    "serves clients that prove who they are, with certificates replaced while it listens, and tells who they are (%s) [S-NODE-8]",
    async (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      const server = createServer({ source: cache, tls: mutual() });
      onTestFinished(async () => server.close({ graceMs: 1 }));
      const { port } = await server.listen({ port: 0 });
      for (const uri of ["spiffe://td/first", "spiffe://td/second"]) {
        const session = await connected(port, {
          ca: authority.cert,
          ...authority.issue({ uris: [uri] }),
        });
        const call = openCall(session, paths[variant]);
        createClient(requestsOf(call), variant.startsWith("delta") ? "delta" : "sotw").ask(
          types.cluster,
          ["a"],
        );
        expect(
          readResponse(
            (await call.next()) ?? new Uint8Array(0),
            variant.startsWith("delta") ? "delta" : "sotw",
          ).names,
        ).toEqual(["a"]);
        expect(server.status().at(-1)).toMatchObject({
          node: { id: "n" },
          identity: { uris: [uri] },
        });
        server.setTls(mutual());
      }
      expect(() => {
        server.setTls({ ...mutual(), key: "none" });
      }).toThrow("tls.key");
    },
  );
});
