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
export { createClient } from "./create-client.ts";
export type { Client, ReadOptions } from "./client.ts";
export type { ClientOptions } from "./client-options.ts";
export type { FindSource } from "./find-source.ts";
export type {
  AnyBootstrap as ClientBootstrap,
  SourceConfig,
  SourcesBootstrap,
} from "@xdstp/bootstrap";
export type { Watch, WatchCalls, WatchOptions } from "./watch.ts";
export type { Snapshot } from "./snapshot.ts";
export type { CollectionChange, CollectionOptions, CollectionWatch } from "./collection-watch.ts";
export type { ListChange, ListOptions, ListWatch } from "./list-watch.ts";
export type { ListMember } from "./list-member.ts";
export type { Member } from "./member.ts";
export type { NameOptions, NameSource } from "./name-options.ts";
export type { Validate } from "./decoder.ts";
export type { TypeSource, ValueOf, WatchedType } from "./watched-type.ts";
export type { Configuration, Parts, PartTypes } from "./walk/configuration.ts";
export type { Gap } from "./walk/graph.ts";
export type { ClientWarning } from "./node-warner.ts";
export type { Walk, WalkOptions } from "./walk/walk.ts";

// Whom to ask: the bootstrap of gRPC, and connections that clients share.
export {
  clientFeatures,
  clientListenerName,
  createChannels,
  encodeNode,
  parseBootstrap,
  readBootstrap,
  serverListenerName,
} from "@xdstp/bootstrap";
export type {
  Bootstrap,
  BootstrapAuthority,
  BootstrapCredentials,
  BootstrapLocality,
  BootstrapNode,
  BootstrapServer,
  BootstrapSources,
  CertificateProvider,
  Channels,
  ChannelsOptions,
  CredentialsEvent,
  JsonObject,
  JsonValue,
  NodeOptions,
  SharedChannel,
  TlsCredentials,
} from "@xdstp/bootstrap";
export type { ClientNotice, FederationEvent, Hop, Trace } from "@xdstp/federation";

// For whoever looks on.
export { clientStatusRoutes } from "./client-status-routes.ts";
export type { MetricsMeter } from "./record-metrics.ts";
