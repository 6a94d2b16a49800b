/**
 * A feed over feeds: the configuration of management servers (bootstraps, ConfigSources) becomes sources of resources, chosen by authority.
 *
 * @packageDocumentation
 */

// The feed over feeds.
export {
  createFederation,
  type Federation,
  type FederationEvent,
  type FederationOptions,
  type FederationServerStatus,
  type Trace,
} from "./federation.ts";
export type { Hop } from "./links/outcome.ts";
export type { ResolveAuthority } from "./routes/authority-finder.ts";
export { createDnsResolver, type DnsResolverOptions } from "./dns/create-dns-resolver.ts";
export type { DnsQueries } from "./dns/dns-queries.ts";
export { locatorFault } from "./links/locator-fault.ts";

// Lists and their members.
export { followList } from "./list/follow-list.ts";
export type { FollowedList, FollowListOptions, ListWatcher } from "./list/followed-list.ts";
export type { HeldState, Holding, ListMember } from "./list/list-member.ts";
export {
  readList,
  type InlineEntry,
  type LocatedEntry,
  type ReadListOptions,
} from "./list/read-list.ts";

// Servers by name.
export type { FederationServer, FederationSource, OpenServer } from "./federation-source.ts";
export { createFederationServer, createSources } from "./create-sources.ts";
export type { ServerConfig, SourceConfig } from "./server-config.ts";
export {
  bootstrapFacts,
  type AnyBootstrap,
  type BootstrapFacts,
  type SourcesBootstrap,
} from "./bootstrap/bootstrap-facts.ts";
export { sourcesOfBootstrap } from "./sources-of-bootstrap.ts";
export { createSharedServers, type SharedServers } from "./sharing/shared-servers.ts";
export { authoritiesIn, sourcesBeside, type SourcesBeside } from "./routes/sources-beside.ts";
export { explain, type ExplainedPlace, type ExplainOptions } from "./explain/explain.ts";
export { composeLocator } from "./explain/compose-locator.ts";

// The bootstrap of gRPC.
export { readBootstrap, type BootstrapSources } from "./bootstrap/read-bootstrap.ts";
export { clientListenerName, serverListenerName } from "./bootstrap/listener-name.ts";
export { parseBootstrap } from "./bootstrap/parse-bootstrap.ts";
export type {
  Bootstrap,
  BootstrapAuthority,
  BootstrapCredentials,
  BootstrapLocality,
  BootstrapNode,
  BootstrapServer,
  CertificateProvider,
  JsonObject,
  JsonValue,
  TlsCredentials,
} from "./bootstrap/bootstrap.ts";
export { clientFeatures, encodeNode, type NodeOptions } from "./bootstrap/encode-node.ts";
export { nodeParams } from "./bootstrap/node-params.ts";

// One server.
export { openServer, type ServerOptions } from "./open-server.ts";
export {
  createChannels,
  type Channels,
  type ChannelsOptions,
  type SharedChannel,
} from "./channels.ts";
export type { CredentialsEvent } from "./credentials/follow-tls-files.ts";
export type { ClientNotice } from "./client-notice.ts";
