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
export type {
  FetchRequest,
  ServerOptions,
  ServerStats,
  StatusRequest,
  XdsServer,
} from "./xds-server.ts";
export type { ServerEvent } from "./server-event.ts";
export { AckError, type MissingAck } from "./ack-error.ts";
export type { AckedClient, AckReport } from "./ack-wait.ts";
export type { WaitForAckOptions } from "./wait-for-ack.ts";
export type { Health } from "./server-facts.ts";
export type { MetricsMeter } from "./xds-server.ts";
export { logEvents, logLine, type LogLevel, type LogLine } from "./log-events.ts";
export type { Authorize, NodeClaim, Peer, SourceFor } from "./access/authorize.ts";
export type { NodeInfo, PeerIdentity, ResourceSource } from "@xdstp/core";
export type {
  ConnectionCut,
  MethodHandler,
  MethodRouter,
  ServiceHandlers,
  StreamCut,
  TlsOptions,
} from "@xdstp/grpc/server";
export type { Policy } from "@xdstp/policy";
export type { Quirk, StreamStatus } from "@xdstp/protocol/server";
export type { AccessLimits } from "./server-limits.ts";
export type { AnswerLimits, AnswerLineStats } from "./answer-line.ts";
export type { AdmissionLimits, AdmissionStats } from "./admission.ts";
export {
  defaultServerLimits,
  type ServerLimitOptions,
  type ServerLimits,
} from "./server-limits.ts";
export { clientQuirks } from "./client-quirks.ts";
