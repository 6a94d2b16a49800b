/**
 * The management servers of a program: read from a bootstrap, from ConfigSources or from DNS, with credentials and connections.
 *
 * ```ts
 * const { servers, node } = readBootstrap();
 * const channel = createChannels().acquire(servers[0]);
 * ```
 *
 * @packageDocumentation
 */

// The bootstrap of gRPC.
export { type BootstrapSources, parseBootstrap, readBootstrap } from "./grpc/read-bootstrap.ts";
export { clientListenerName, serverListenerName } from "./grpc/listener-name.ts";
export type {
  Bootstrap,
  BootstrapCredentials,
  BootstrapNode,
  BootstrapServer,
} from "./grpc/bootstrap.ts";
export { clientFeatures, encodeNode, type NodeOptions, nodeParams } from "./grpc/encode-node.ts";

// Servers and sources, from any configuration.
export {
  type AnyBootstrap,
  type PathSource,
  type RestPolls,
  type ServerConfig,
  serverId,
  type SourceConfig,
} from "./server-config.ts";
export { createDnsResolver, type DnsQueries } from "./create-dns-resolver.ts";

// Connections.
export { createChannels, type Channels } from "./channels.ts";
export type { Transport, TransportConnection, TransportServer } from "./transport.ts";
export type { CredentialsEvent } from "./channel-credentials.ts";
