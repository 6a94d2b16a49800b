import { createClient, type Client, type ClientOptions } from "@xdstp/client";

/** Options of {@link createXdsClient}: those of `createClient`, and an address in place of a bootstrap. */
export interface XdsClientOptions extends ClientOptions {
  /** `HOST:PORT` of one server, connected without TLS. It replaces `bootstrap`. */
  readonly server?: string;
  /** The node id that the client sends to `server`. Default: `xdstp`. */
  readonly nodeId?: string;
}

/**
 * Returns a client that watches and reads resources by name. It connects with the first watch.
 * Without `server` and `bootstrap` it reads the bootstrap that gRPC programs read (`GRPC_XDS_BOOTSTRAP`).
 * Throws an XdsError if there is no bootstrap, or an invalid one.
 */
export function createXdsClient(options: XdsClientOptions = {}): Client {
  const { server, nodeId = "xdstp", ...clientOptions } = options;
  if (server === undefined) return createClient(clientOptions);
  const xds_servers = [{ server_uri: server, channel_creds: [{ type: "insecure" }] }];
  return createClient({
    ...clientOptions,
    bootstrap: { json: { xds_servers, node: { id: nodeId } } },
  });
}
