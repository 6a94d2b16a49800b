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
export type { Client } from "./client.ts";
export type { ClientOptions } from "./client-options.ts";
export {
  type AnyBootstrap as ClientBootstrap,
  type SourceConfig,
  clientFeatures,
  clientListenerName,
  createChannels,
  encodeNode,
  parseBootstrap,
  readBootstrap,
  serverListenerName,
  type Bootstrap,
  type BootstrapCredentials,
  type BootstrapNode,
  type BootstrapServer,
  type BootstrapSources,
  type Channels,
  type CredentialsEvent,
  type NodeOptions,
} from "@xdstp/bootstrap";
export type {
  DefaultOption,
  DefinedSnapshot,
  Snapshot,
  Watch,
  WatchCalls,
  WatchOptions,
} from "./watch.ts";
export type { CollectionChange, CollectionWatch } from "./collection-watch.ts";
export type { ListChange, ListWatch } from "./list-watch.ts";
export type { ListMember } from "./list-member.ts";
export type { Member } from "./member.ts";
export type { NameOptions, TypeSource, ValueOf, WatchedType } from "./watch.ts";
export type { Configuration, Gap, PartTypes } from "./walk/graph.ts";
export type { Walk, WalkOptions } from "./walk/graph.ts";

// Servers and connections: the bootstrap of gRPC, and channels that clients share.
export type { ClientNotice, FederationEvent, Trace } from "@xdstp/federation";

// For observers of a client.
export { clientStatusRoutes } from "./client-status.ts";
