import { parseBootstrap, type ServerConfig } from "@xdstp/bootstrap";
import { describe, expect, it } from "vitest";

import { serverOptions } from "../test/server-options.ts";
import { createFederationServer, createSources } from "./index.ts";

const server: ServerConfig = {
  uri: "https://config.example",
  credentials: { type: "insecure" },
  features: new Set(),
};
const tls = { type: "tls", refreshIntervalMs: 1 } as const;

describe("a server over native HTTP", () => {
  it("is one of a gRPC bootstrap whose URI is an origin; it has no variant and no stream [B-HTTP-1] [B-HTTP-12]", () => {
    const options = serverOptions();
    const [source] = createSources(
      parseBootstrap({
        xds_servers: [{ server_uri: server.uri, channel_creds: [{ type: "tls" }] }],
      }),
      options,
    );
    const [only] = source?.servers ?? [];
    only?.open().close();
    expect([only?.name, only?.config?.variant]).toEqual([server.uri, undefined]);
    expect(options.channels.calls).toEqual([]);
  });

  it.each([
    ["http://127.0.0.1:18000", {}],
    ["https://config.example/", { credentials: tls }],
    ["HTTPS://Config.Example:8443", {}],
  ])("may be %s", (uri, more) => {
    expect(createFederationServer({ ...server, uri, ...more }, serverOptions()).name).toBe(uri);
  });

  it("is a server of another transport if its credentials say so, also with a path [C-GRPC-1]", () => {
    const credentials = { type: "transport", name: "acme", config: {} } as const;
    const options = serverOptions();
    const uri = "https://me:pa55@config.example/path";
    const { name, config } = createFederationServer({ ...server, uri, credentials }, options);
    expect([name, config?.variant]).toEqual(["https://***@config.example/path", "delta"]);
  });

  it.each([
    ["https://config.example/path", {}, "is not an origin; give https://HOST"],
    [
      "https://me:secret@config.example",
      {},
      'the server "https://***@config.example" has a user name or password',
    ],
    ["https://", {}, "is not an origin"],
    ["http://config.example", { credentials: tls }, "which http: would not use; give https:"],
    [
      "https://config.example",
      { credentials: { ...tls, caCertificateFile: "ca.pem" } },
      "has certificates or a server name",
    ],
  ])("may not be %s with %j", (uri, more, problem) => {
    expect(() => createFederationServer({ ...server, uri, ...more }, serverOptions())).toThrow(
      problem,
    );
  });
});
