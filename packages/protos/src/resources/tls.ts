/**
 * The TLS contexts of listeners and clusters, as TypeScript.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { UpstreamTlsContextSchema } from "@xdstp/protos/envoy/tls";
 *
 * const bytes = toBinary(UpstreamTlsContextSchema, create(UpstreamTlsContextSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
export * from "./gen/envoy/extensions/transport_sockets/tls/v3/common_pb.ts";
