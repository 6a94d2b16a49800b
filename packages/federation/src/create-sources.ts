import {
  type AnyBootstrap,
  type Bootstrap,
  type BootstrapNode,
  readBootstrap,
  type ServerConfig,
  serverId,
  type SourceConfig,
} from "@xdstp/bootstrap";

import type { FederationServer, FederationSource } from "./federation-source.ts";
import { checkHttpServer, isHttpServer, openHttpServer } from "./open-http-server.ts";
import { openServer, type ServerOptions } from "./open-server.ts";
import { shownUri } from "./shown-uri.ts";

/**
 * Creates sources from configuration and keeps their order. A connection begins only when a server
 * is opened.
 * A gRPC bootstrap (C-GRPC-3, A47) becomes one source for each of `authorities`, with the servers
 * of the bootstrap if the authority has none of its own, and one source for opaque names.
 * Without `authorities` the servers of the bootstrap get all requests (C-AUTH-2). With
 * `authorities`, an authority that is not listed has no servers (C-AUTH-5).
 */
export function createSources(
  configured: readonly SourceConfig[] | Bootstrap,
  options: ServerOptions,
): readonly FederationSource[] {
  const configs = "authorities" in configured ? configsOf(configured) : configured;
  return configs.map(({ servers, ...source }) => ({
    ...source,
    servers: servers.map((server) => createFederationServer(server, options)),
  }));
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

/**
 * Creates a server of a federation from its configuration. A URI that begins with `http://` or
 * `https://` is a server over native HTTP, all others are targets of gRPC.
 * Throws an XdsError, INVALID_ARGUMENT, for a server over HTTP whose configuration cannot be used.
 */
export function createFederationServer(
  config: ServerConfig,
  options: ServerOptions,
): FederationServer {
  if (isHttpServer(config)) {
    checkHttpServer(config);
    return {
      id: serverId(config),
      name: config.uri,
      config,
      open: () => openHttpServer(config, options),
    };
  }
  const rate = config.rate ?? options.rate;
  const server = {
    ...config,
    variant: config.variant ?? options.variant ?? "delta",
    ...(rate !== undefined && { rate }),
  };
  return {
    id: serverId(server),
    name: shownUri(server.uri),
    config: server,
    open: () => openServer(server, options),
  };
}

/** The parts that all kinds of bootstraps have. */
export interface BootstrapFacts {
  /** The node of this client. */
  readonly node: BootstrapNode;
  /** Fields of the node that become context parameters (C-CTX-3). */
  readonly nodeContextParams: readonly string[];
  /** The one ADS source. Absent: the sources determine the servers of opaque names. */
  readonly ads?: SourceConfig;
  /** The sources in order (C-AUTH-1). */
  sources(options: ServerOptions): readonly FederationSource[];
}

/**
 * Reads the parts of a bootstrap of any kind. Without one, reads the bootstrap that the environment
 * names (C-GRPC-1). Throws an XdsError if there is none, or if it is invalid.
 */
export function bootstrapFacts(given: AnyBootstrap | undefined): BootstrapFacts {
  if (given !== undefined && "sources" in given) {
    const { node, sources, ads, nodeContextParams = [] } = given;
    return {
      node,
      nodeContextParams,
      ...(ads !== undefined && { ads }),
      sources: (options) => createSources(sources, options),
    };
  }
  const bootstrap = given !== undefined && "servers" in given ? given : readBootstrap(given);
  return {
    node: bootstrap.node,
    nodeContextParams: [],
    sources: (options) => createSources(bootstrap, options),
  };
}
