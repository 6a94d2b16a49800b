/**
 * Envoy's secrets as TypeScript, with what they hold. The TLS contexts that name them are in `tls`.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { SecretSchema } from "@xdstp/protos/envoy/secret";
 *
 * const bytes = toBinary(SecretSchema, create(SecretSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
export * from "./gen/envoy/extensions/transport_sockets/tls/v3/common_pb.ts";
