import { type ServerConfig, serverId, type SourceConfig } from "@xdstp/bootstrap";

import type { FederationServer, FederationSource } from "./federation-source.ts";
import { openServer, type ServerOptions } from "./open-server.ts";

/** Sources to ask, of what configuration says: their order is kept. Nothing connects before a server is opened. */
export function createSources(
  configs: readonly SourceConfig[],
  options: ServerOptions,
): readonly FederationSource[] {
  return configs.map(({ servers, ...source }) => ({
    ...source,
    servers: servers.map((server) => createFederationServer(server, options)),
  }));
}

/** A server to ask, of what configuration says. */
export function createFederationServer(
  config: ServerConfig,
  options: ServerOptions,
): FederationServer {
  const rate = config.rate ?? options.rate;
  const server = {
    ...config,
    variant: config.variant ?? options.variant ?? "delta",
    ...(rate !== undefined && { rate }),
  };
  return {
    id: serverId(server),
    name: server.uri,
    config: server,
    open: () => openServer(server, options),
  };
}
