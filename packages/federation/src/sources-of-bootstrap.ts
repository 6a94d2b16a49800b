import type { Bootstrap, SourceConfig } from "@xdstp/bootstrap";

import { createSources } from "./create-sources.ts";
import type { FederationSource } from "./federation-source.ts";
import type { ServerOptions } from "./open-server.ts";

/**
 * The sources of a gRPC bootstrap (C-GRPC-3, A47): one for each of `authorities`, with the servers of the bootstrap where it has none of its own, and one for opaque names.
 * Without `authorities` the servers of the bootstrap get all requests (C-AUTH-2); with them an authority that is not listed has no servers (C-AUTH-5).
 */
export function sourcesOfBootstrap(
  bootstrap: Bootstrap,
  options: ServerOptions,
): readonly FederationSource[] {
  return createSources(configsOf(bootstrap), options);
}

function configsOf({ servers, authorities }: Bootstrap): readonly SourceConfig[] {
  if (authorities.size === 0) return [{ servers, place: "xds_servers" }];
  const listed = [...authorities].map(([name, authority]) => ({
    authorities: [name],
    servers: authority.servers.length > 0 ? authority.servers : servers,
    place: `authorities[${JSON.stringify(name)}]${authority.servers.length > 0 ? "" : " (with xds_servers)"}`,
    ...(authority.fallbackOnReachabilityOnly && { reachabilityOnly: true }),
  }));
  return [...listed, { servers, opaque: true, place: "xds_servers" }];
}
