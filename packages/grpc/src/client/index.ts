/**
 * The client of byte streams over gRPC.
 *
 * @packageDocumentation
 */
export { createGrpcChannel, type GrpcChannel, type GrpcChannelOptions } from "./grpc-channel.ts";
export {
  defaultChannelLimits,
  type ChannelLimits,
  type ChannelEvent,
  type Connectivity,
} from "./channel-context.ts";
export type { ChannelTls } from "./channel-tls.ts";

// For channels over other protocols.
export { credentialsOf, type ChannelCredentials } from "./channel-tls.ts";
export { parseTarget, type Target } from "./parse-target.ts";
export { nodeWarning } from "../wire/node-warning.ts";
