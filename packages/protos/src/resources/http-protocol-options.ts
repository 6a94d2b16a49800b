/**
 * The HTTP version and options of a cluster, as TypeScript.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { HttpProtocolOptionsSchema } from "@xdstp/protos/envoy/http-protocol-options";
 *
 * const bytes = toBinary(HttpProtocolOptionsSchema, create(HttpProtocolOptionsSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts";
