import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import { onTestFinished } from "vitest";

/** A management server on loopback, and its resources. */
export interface Origin {
  readonly cache: Cache;
  readonly server: XdsServer;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly port: number;
  /** Puts a cluster with this connect timeout, in seconds. */
  cluster(name: string, seconds?: number): void;
  close(): Promise<void>;
}

export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
export const secretUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** Starts a server with an empty cache. It is closed after the test. */
export async function useOrigin(options: Partial<ServerOptions> = {}, at = 0): Promise<Origin> {
  const cache = createCache({ types: envoyTypes });
  cache.commit({});
  const server = createServer({ source: cache, ...options });
  const { port } = await server.listen({ port: at });
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 1 });
    await cache.close();
  };
  onTestFinished(close);
  return {
    cache,
    server,
    port,
    close,
    address: `127.0.0.1:${port}`,
    cluster(name, seconds = 1) {
      cache.put({
        typeUrl: clusterUrl,
        name,
        value: encode("envoy.config.cluster.v3.Cluster", {
          name,
          connectTimeout: { seconds: BigInt(seconds), nanos: 0 },
        }),
      });
    },
  };
}

/** Encodes a message of the Envoy API. */
export function encode(typeName: string, init: MessageInitShape<DescMessage>): Uint8Array {
  const schema = envoyRegistry().getMessage(typeName);
  if (schema === undefined) throw new Error(`the registry has no ${typeName}`);
  return toBinary(schema, create(schema, init));
}
