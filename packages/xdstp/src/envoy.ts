/**
 * Envoy's resources and what they are made of, as generated code; `clusters`, `endpoints`, `listeners`, `routes` and `secrets` for `put`.
 *
 * @packageDocumentation
 */
export * from "@xdstp/resource-types/envoy";
export { packAny } from "@xdstp/protos";
export * from "@xdstp/protos/envoy/access-log";
export * from "@xdstp/protos/envoy/cluster";
export * from "@xdstp/protos/envoy/core";
export * from "@xdstp/protos/envoy/endpoint";
export * from "@xdstp/protos/envoy/http-connection-manager";
export * from "@xdstp/protos/envoy/http-protocol-options";
export * from "@xdstp/protos/envoy/listener";
export * from "@xdstp/protos/envoy/route";
export * from "@xdstp/protos/envoy/router";
export * from "@xdstp/protos/envoy/secret";
export * from "@xdstp/protos/envoy/tcp-proxy";
export * from "@xdstp/protos/envoy/tls";

// Names that several of these files have: the one of resources that are written by hand most often.
export {
  HttpProtocolOptionsSchema,
  type HttpProtocolOptions,
} from "@xdstp/protos/envoy/http-protocol-options";
export {
  FilterSchema,
  QuicProtocolOptionsSchema,
  type Filter,
  type QuicProtocolOptions,
} from "@xdstp/protos/envoy/listener";
export {
  RetryPolicySchema,
  RetryPolicy_RetryHostPredicateSchema,
  RetryPolicy_RetryPrioritySchema,
  type RetryPolicy,
  type RetryPolicy_RetryHostPredicate,
  type RetryPolicy_RetryPriority,
} from "@xdstp/protos/envoy/route";
