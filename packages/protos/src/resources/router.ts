/**
 * The last HTTP filter of a listener, which sends requests to clusters, as TypeScript.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { RouterSchema } from "@xdstp/protos/envoy/router";
 *
 * const bytes = toBinary(RouterSchema, create(RouterSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/extensions/filters/http/router/v3/router_pb.ts";
