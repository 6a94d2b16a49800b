/**
 * A feed over feeds: each name is requested from the servers of its authority, and redirects and directives are followed.
 *
 * @packageDocumentation
 */

// The feed over feeds.
export { createFederation } from "./create-federation.ts";
export type {
  Federation,
  FederationEvent,
  FederationOptions,
  FederationServerStatus,
  Trace,
} from "./federation.ts";
export { locatorFault } from "./links/locator-of.ts";

// Lists and their members.
export { followList } from "./list/follow-list.ts";
export type { FollowedList, FollowListOptions } from "./list/list-member.ts";
export { readList } from "./list/read-list.ts";

// Servers by name.
export type { FederationServer, FederationSource, OpenServer } from "./federation-source.ts";
export {
  createFederationServer,
  createSources,
  bootstrapFacts,
  type BootstrapFacts,
} from "./create-sources.ts";
export { isHttpServer } from "./open-http-server.ts";
export { createSharedServers, type SharedServers } from "./sharing/shared-servers.ts";
export { authoritiesIn, sourcesBeside } from "./routes/sources-beside.ts";
export { explain, type ExplainedPlace, composeLocator } from "./explain/explain.ts";

// One server.
export type { ClientNotice, ServerOptions } from "./open-server.ts";
