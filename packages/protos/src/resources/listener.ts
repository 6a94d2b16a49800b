/**
 * Envoy's listeners as TypeScript, with what they hold. What a filter is configured with is an `Any`: see `http-connection-manager`.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { ListenerSchema } from "@xdstp/protos/envoy/listener";
 *
 * const bytes = toBinary(ListenerSchema, create(ListenerSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/config/listener/v3/listener_pb.ts";
export * from "./gen/envoy/config/listener/v3/listener_components_pb.ts";
export * from "./gen/envoy/config/listener/v3/api_listener_pb.ts";
export * from "./gen/envoy/config/listener/v3/quic_config_pb.ts";
export * from "./gen/envoy/config/listener/v3/udp_listener_config_pb.ts";
