/**
 * An xDS management server: ADS and every service of one type, in SotW, delta and unary Fetch.
 *
 * ```ts
 * const cache = createCache({ types: envoyTypes });
 * const server = createServer({ source: cache });
 * const { port } = await server.listen({ port: 18000 });
 * ```
 *
 * @packageDocumentation
 */
export { createServer } from "./create-server.ts";
export type { MetricsMeter, ServerOptions, ServerStats, XdsServer } from "./xds-server.ts";
export type { ServerEvent } from "./server-event.ts";
export { AckError } from "./ack-error.ts";
export type { AckReport } from "./ack-wait.ts";
export type { Health } from "./server-facts.ts";
export type {
  CoveringSubscription,
  ExplainedCause,
  ExplainQuestion,
  Explanation,
  HeldState,
  OriginOf,
  ResourceOrigin,
  SourceState,
  StreamExplanation,
} from "./explain/explanation.ts";
export type { ServedResource } from "./served-resources.ts";
export { logEvents, logLine, type LogLine } from "./log-events.ts";
export type { Authorize, Peer } from "./access/authorize.ts";
export type { CallerView, ViewCaller } from "./access/view-caller.ts";
export type { NodeClaim, NodeInfo, PeerIdentity, ResourceSource } from "@xdstp/core";
export type {
  ConnectionCut,
  HttpListener,
  HttpRequest,
  HttpResponse,
  MethodHandler,
  MethodRouter,
  ServiceHandlers,
  StreamCut,
  TlsOptions,
} from "@xdstp/grpc/server";
export type { Policy } from "@xdstp/policy";
export type { Quirk, StreamStatus } from "@xdstp/protocol/server";
export { defaultServerLimits, type ServerLimits } from "./server-limits.ts";
export { clientQuirks } from "./client-quirks.ts";
