/**
 * Envoy's clusters as TypeScript, with what they hold.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
 *
 * const bytes = toBinary(ClusterSchema, create(ClusterSchema));
 * ```
 * @packageDocumentation
 */
export * from "./gen/envoy/config/cluster/v3/cluster_pb.ts";
export * from "./gen/envoy/config/cluster/v3/circuit_breaker_pb.ts";
export * from "./gen/envoy/config/cluster/v3/filter_pb.ts";
export * from "./gen/envoy/config/cluster/v3/outlier_detection_pb.ts";
