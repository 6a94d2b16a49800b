/**
 * Envoy's endpoint assignments as TypeScript, with what they hold.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
 *
 * const bytes = toBinary(ClusterLoadAssignmentSchema, create(ClusterLoadAssignmentSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/config/endpoint/v3/endpoint_pb.ts";
export * from "./gen/envoy/config/endpoint/v3/endpoint_components_pb.ts";
