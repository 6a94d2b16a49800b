/**
 * The filter that names or holds the routes of a listener, as TypeScript.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { HttpConnectionManagerSchema } from "@xdstp/protos/envoy/http-connection-manager";
 *
 * const bytes = toBinary(HttpConnectionManagerSchema, create(HttpConnectionManagerSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
