/**
 * An xDS client: typed watches on names, with validation, ACK and NACK.
 *
 * ```ts
 * const client = createClient();
 * for await (const { value, error } of client.watch(ClusterSchema, "xdstp://acme/envoy.config.cluster.v3.Cluster/blue")) console.log(value ?? error);
 * ```
 *
 * @packageDocumentation
 */
export { createClient, type Client, type ClientOptions, type ReadOptions } from "./create-client.ts";
export type { Watch, WatchCalls, WatchOptions } from "./watch.ts";
export type { Snapshot } from "./snapshot.ts";
export type { CollectionChange, CollectionOptions, CollectionWatch } from "./collection-watch.ts";
export type { Member } from "./member.ts";
export type { NameOptions } from "./name-options.ts";
export type { Validate } from "./decoder.ts";
export type { TypeSource, ValueOf, WatchedType } from "./watched-type.ts";
export type { Configuration, Parts, PartTypes } from "./walk/configuration.ts";
export type { Gap } from "./walk/graph.ts";
export type { Walk, WalkOptions } from "./walk/walk.ts";
export type { ClientNotice } from "./client-notice.ts";

// The bootstrap of gRPC.
export { readBootstrap, type BootstrapSources } from "./bootstrap/read-bootstrap.ts";
export { clientListenerName, serverListenerName } from "./bootstrap/listener-name.ts";
export { parseBootstrap } from "./bootstrap/parse-bootstrap.ts";
export type { Bootstrap, BootstrapAuthority, BootstrapCredentials, BootstrapLocality, BootstrapNode, BootstrapServer, CertificateProvider, JsonObject, JsonValue, TlsCredentials } from "./bootstrap/bootstrap.ts";
export { clientFeatures, encodeNode, type NodeOptions } from "./bootstrap/encode-node.ts";
export type { CredentialsEvent } from "./credentials/follow-tls-files.ts";

// For whoever looks on, or shares connections.
export { clientStatusRoutes, type MayReadStatus } from "./client-status-routes.ts";
export { createChannels, type Channels, type ChannelsOptions, type SharedChannel } from "./channels.ts";
export type { MetricsMeter } from "./record-metrics.ts";
export type { ServerStatus } from "./server-chain.ts";
