/**
 * Byte streams over gRPC: streaming methods on `node:http2`, everything else through Connect.
 *
 * @packageDocumentation
 */
export { createGrpcServer, type GrpcServer, type GrpcServerOptions } from "./grpc-server.ts";
export type { AcceptCall, StreamCall } from "./raw-call.ts";
export { defaultGrpcLimits, type GrpcLimits } from "./grpc-limits.ts";
export type { ConnectionCut, GrpcEvent, StreamCut } from "./grpc-event.ts";
export type {
  CallPeer,
  MethodCall,
  MethodHandler,
  MethodRouter,
  ServiceHandlers,
} from "./method-router.ts";
export type { ConnectionAge } from "./connection-age.ts";
export type { HttpListener, HttpRequest, HttpResponse } from "./http-listener.ts";
export type { TlsOptions } from "./tls-options.ts";
export type { GrpcStats } from "./grpc-context.ts";
export { principalOf } from "./identity-of.ts";
export { nodeWarning } from "../wire/node-warning.ts";
