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
export { nodeWarning } from "../wire/node-warning.ts";
