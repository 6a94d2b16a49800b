/**
 * Client status (CSDS): what clients made of their configuration.
 * @packageDocumentation
 */
export type {
  ClientConfig,
  ClientConfig_GenericXdsConfig,
  ClientStatusRequest,
  ClientStatusResponse,
  PerXdsConfig,
} from "../gen/envoy/service/status/v3/csds_pb.ts";
export {
  ClientConfigSchema,
  ClientConfigStatus,
  ClientConfigStatusSchema,
  ClientConfig_GenericXdsConfigSchema,
  ClientStatusDiscoveryService,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
  ConfigStatus,
  ConfigStatusSchema,
  PerXdsConfigSchema,
} from "../gen/envoy/service/status/v3/csds_pb.ts";
export type {
  ClustersConfigDump,
  ClustersConfigDump_DynamicCluster,
  ClustersConfigDump_StaticCluster,
  EndpointsConfigDump,
  EndpointsConfigDump_DynamicEndpointConfig,
  EndpointsConfigDump_StaticEndpointConfig,
  ListenersConfigDump,
  ListenersConfigDump_DynamicListener,
  ListenersConfigDump_DynamicListenerState,
  ListenersConfigDump_StaticListener,
  RoutesConfigDump,
  RoutesConfigDump_DynamicRouteConfig,
  RoutesConfigDump_StaticRouteConfig,
  ScopedRoutesConfigDump,
  ScopedRoutesConfigDump_DynamicScopedRouteConfigs,
  ScopedRoutesConfigDump_InlineScopedRouteConfigs,
  UpdateFailureState,
} from "../gen/envoy/admin/v3/config_dump_shared_pb.ts";
export {
  ClientResourceStatus,
  ClientResourceStatusSchema,
  ClustersConfigDumpSchema,
  ClustersConfigDump_DynamicClusterSchema,
  ClustersConfigDump_StaticClusterSchema,
  EndpointsConfigDumpSchema,
  EndpointsConfigDump_DynamicEndpointConfigSchema,
  EndpointsConfigDump_StaticEndpointConfigSchema,
  ListenersConfigDumpSchema,
  ListenersConfigDump_DynamicListenerSchema,
  ListenersConfigDump_DynamicListenerStateSchema,
  ListenersConfigDump_StaticListenerSchema,
  RoutesConfigDumpSchema,
  RoutesConfigDump_DynamicRouteConfigSchema,
  RoutesConfigDump_StaticRouteConfigSchema,
  ScopedRoutesConfigDumpSchema,
  ScopedRoutesConfigDump_DynamicScopedRouteConfigsSchema,
  ScopedRoutesConfigDump_InlineScopedRouteConfigsSchema,
  UpdateFailureStateSchema,
} from "../gen/envoy/admin/v3/config_dump_shared_pb.ts";
export type { NodeMatcher } from "../gen/envoy/type/matcher/v3/node_pb.ts";
export { NodeMatcherSchema } from "../gen/envoy/type/matcher/v3/node_pb.ts";
export type { DoubleMatcher } from "../gen/envoy/type/matcher/v3/number_pb.ts";
export { DoubleMatcherSchema } from "../gen/envoy/type/matcher/v3/number_pb.ts";
export type {
  RegexMatcher,
  RegexMatcher_GoogleRE2,
} from "../gen/envoy/type/matcher/v3/regex_pb.ts";
export {
  RegexMatcherSchema,
  RegexMatcher_GoogleRE2Schema,
} from "../gen/envoy/type/matcher/v3/regex_pb.ts";
export type { ListStringMatcher, StringMatcher } from "../gen/envoy/type/matcher/v3/string_pb.ts";
export {
  ListStringMatcherSchema,
  StringMatcherSchema,
} from "../gen/envoy/type/matcher/v3/string_pb.ts";
export type {
  StructMatcher,
  StructMatcher_PathSegment,
} from "../gen/envoy/type/matcher/v3/struct_pb.ts";
export {
  StructMatcherSchema,
  StructMatcher_PathSegmentSchema,
} from "../gen/envoy/type/matcher/v3/struct_pb.ts";
export type {
  ListMatcher,
  OrMatcher,
  ValueMatcher,
  ValueMatcher_NullMatch,
} from "../gen/envoy/type/matcher/v3/value_pb.ts";
export {
  ListMatcherSchema,
  OrMatcherSchema,
  ValueMatcherSchema,
  ValueMatcher_NullMatchSchema,
} from "../gen/envoy/type/matcher/v3/value_pb.ts";
export type { DoubleRange } from "../gen/envoy/type/v3/range_pb.ts";
export { DoubleRangeSchema } from "../gen/envoy/type/v3/range_pb.ts";
