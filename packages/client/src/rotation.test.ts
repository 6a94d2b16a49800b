import { writeFileSync } from "node:fs";
import { createCache } from "@xdstp/cache";
import { createServer, type XdsServer } from "@xdstp/server";
import { createFakeClock, createTestAuthority, type TestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { clusterOf, clusterType, clusterUrl } from "../test/cluster.ts";
import { useFolder } from "../../bootstrap/test/use-folder.ts";
import { useClient } from "../test/use-origin.ts";
import { createChannels, parseBootstrap, type CredentialsEvent } from "./index.ts";

/**
 * A server that requires a client certificate of this authority, and has a server certificate of
 * it.
 */
async function useServer(
  authority: TestAuthority,
  seconds: number,
  port = 0,
): Promise<{ readonly server: XdsServer; readonly port: number }> {
  const cache = createCache();
  cache.put({ typeUrl: clusterUrl, name: "blue", value: clusterOf("blue", seconds) });
  const server = createServer({
    source: cache,
    tls: { ...authority.issue({ dnsNames: ["localhost"] }), clientCa: authority.cert },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, port: (await server.listen({ host: "localhost", port })).port };
}

describe("mutual TLS from files", () => {
  it("shows the new certificate with the next stream, and the open one goes on [C-GRPC-1]", async () => {
    const [old, next] = [createTestAuthority("old"), createTestAuthority("next")];
    const first = await useServer(old, 1);
    const own = old.issue({ uris: ["spiffe://td/old"] });
    const at = useFolder({ ca: old.cert, cert: own.cert, key: own.key });
    const clock = createFakeClock();
    const told: CredentialsEvent["kind"][] = [];
    const { client } = useClient(["none"], {
      channels: createChannels({
        clock,
        onEvent: (_, { kind }) => {
          told.push(kind);
        },
      }),
      bootstrap: parseBootstrap({
        xds_servers: [
          {
            server_uri: `localhost:${first.port}`,
            channel_creds: [
              {
                type: "tls",
                config: {
                  ca_certificate_file: at("ca"),
                  certificate_file: at("cert"),
                  private_key_file: at("key"),
                },
              },
            ],
          },
        ],
      }),
    });
    const watch = client.watch(clusterType, "blue");
    const seconds: bigint[] = [];
    const changed = watch[Symbol.asyncIterator]();
    const until = async (wanted: bigint): Promise<void> => {
      while (seconds.at(-1) !== wanted)
        seconds.push((await changed.next()).value?.value?.connectTimeout?.seconds ?? -1n);
    };
    await until(1n);
    const renewed = next.issue({ uris: ["spiffe://td/next"] });
    for (const [name, text] of [
      ["ca", next.cert],
      ["cert", renewed.cert],
      ["key", renewed.key],
    ] as const)
      writeFileSync(at(name), text);
    clock.advance(10_000);
    expect([told, first.server.status().map(({ identity }) => identity?.uris)]).toEqual([
      ["credentials-replaced"],
      [["spiffe://td/old"]],
    ]);
    await first.server.close({ graceMs: 0 });
    const second = await useServer(next, 2, first.port);
    await until(2n);
    expect([
      second.server.status().map(({ identity }) => identity?.uris),
      second.server.stats().wire.connections,
    ]).toEqual([[["spiffe://td/next"]], 1]);
  });
});
