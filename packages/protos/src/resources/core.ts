/**
 * What Envoy's resource types have in common, as TypeScript: addresses, config sources, health checks, metadata.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { AddressSchema } from "@xdstp/protos/envoy/core";
 *
 * const bytes = toBinary(AddressSchema, create(AddressSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/config/core/v3/address_pb.ts";
export * from "./gen/envoy/config/core/v3/backoff_pb.ts";
export * from "./gen/envoy/config/core/v3/base_pb.ts";
export * from "./gen/envoy/config/core/v3/config_source_pb.ts";
export * from "./gen/envoy/config/core/v3/event_service_config_pb.ts";
export * from "./gen/envoy/config/core/v3/extension_pb.ts";
export * from "./gen/envoy/config/core/v3/grpc_service_pb.ts";
export * from "./gen/envoy/config/core/v3/health_check_pb.ts";
export * from "./gen/envoy/config/core/v3/protocol_pb.ts";
export * from "./gen/envoy/config/core/v3/proxy_protocol_pb.ts";
export * from "./gen/envoy/config/core/v3/resolver_pb.ts";
export * from "./gen/envoy/config/core/v3/socket_cmsg_headers_pb.ts";
export * from "./gen/envoy/config/core/v3/socket_option_pb.ts";
export * from "./gen/envoy/config/core/v3/substitution_format_string_pb.ts";
export * from "./gen/envoy/config/core/v3/udp_socket_config_pb.ts";
