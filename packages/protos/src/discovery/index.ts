/**
 * The messages of both variants of the xDS transport protocol, the aggregated service, and the core messages that these name. Loads none of Envoy's resource types.
 *
 * ```ts
 * import { create, toBinary } from "@bufbuild/protobuf";
 * import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";
 *
 * const request = create(DiscoveryRequestSchema, { typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster" });
 * const bytes = toBinary(DiscoveryRequestSchema, request);
 * ```
 * @packageDocumentation
 */
export type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
  DynamicParameterConstraints,
  DynamicParameterConstraints_ConstraintList,
  DynamicParameterConstraints_SingleConstraint,
  DynamicParameterConstraints_SingleConstraint_Exists,
  Resource,
  Resource_CacheControl,
  ResourceError,
  ResourceLocator,
  ResourceName,
} from "../gen/envoy/service/discovery/v3/discovery_pb.ts";
export {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  DynamicParameterConstraints_ConstraintListSchema,
  DynamicParameterConstraints_SingleConstraint_ExistsSchema,
  DynamicParameterConstraints_SingleConstraintSchema,
  DynamicParameterConstraintsSchema,
  Resource_CacheControlSchema,
  ResourceErrorSchema,
  ResourceLocatorSchema,
  ResourceNameSchema,
  ResourceSchema,
} from "../gen/envoy/service/discovery/v3/discovery_pb.ts";
export { AggregatedDiscoveryService } from "../gen/envoy/service/discovery/v3/ads_pb.ts";

export type {
  BuildVersion,
  ControlPlane,
  Extension,
  Locality,
  Metadata,
  Node,
} from "../gen/envoy/config/core/v3/base_pb.ts";
export {
  BuildVersionSchema,
  ControlPlaneSchema,
  ExtensionSchema,
  LocalitySchema,
  MetadataSchema,
  NodeSchema,
} from "../gen/envoy/config/core/v3/base_pb.ts";
export type {
  Address,
  EnvoyInternalAddress,
  Pipe,
  SocketAddress,
} from "../gen/envoy/config/core/v3/address_pb.ts";
export {
  AddressSchema,
  EnvoyInternalAddressSchema,
  PipeSchema,
  SocketAddress_Protocol,
  SocketAddress_ProtocolSchema,
  SocketAddressSchema,
} from "../gen/envoy/config/core/v3/address_pb.ts";
export type { SemanticVersion } from "../gen/envoy/type/v3/semantic_version_pb.ts";
export { SemanticVersionSchema } from "../gen/envoy/type/v3/semantic_version_pb.ts";
export type { ContextParams } from "../gen/xds/core/v3/context_params_pb.ts";
export { ContextParamsSchema } from "../gen/xds/core/v3/context_params_pb.ts";
export type { Status } from "../gen/google/rpc/status_pb.ts";
export { StatusSchema } from "../gen/google/rpc/status_pb.ts";
