import { quote } from "../folder-problem.ts";
import { type EnvoyCheck, envoyCheck, type EnvoyFinding, finding, keyStep } from "./envoy-check.ts";
import { misfitsInMap } from "./extension-checks.ts";

interface Any {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

const filters = "envoy.extensions.filters.http.";
const filterConfig = "envoy.config.route.v3.FilterConfig";
const field = "typed_per_filter_config";

/** HTTP filters whose configuration on a route has another type than the filter. */
const typesOnRoutes: ReadonlyMap<string, string> = new Map(
  [
    ["ai_protocol_manager.v3.AiProtocolManager", "AiProtocolManagerPerRoute"],
    ["api_key_auth.v3.ApiKeyAuth", "ApiKeyAuthPerRoute"],
    ["aws_lambda.v3.Config", "PerRouteConfig"],
    ["aws_request_signing.v3.AwsRequestSigning", "AwsRequestSigningPerRoute"],
    ["basic_auth.v3.BasicAuth", "BasicAuthPerRoute"],
    ["buffer.v3.Buffer", "BufferPerRoute"],
    ["composite.v3.Composite", "CompositePerRoute"],
    ["compressor.v3.Compressor", "CompressorPerRoute"],
    ["dynamic_forward_proxy.v3.FilterConfig", "PerRouteConfig"],
    ["dynamic_modules.v3.DynamicModuleFilter", "DynamicModuleFilterPerRoute"],
    ["ext_authz.v3.ExtAuthz", "ExtAuthzPerRoute"],
    ["ext_proc.v3.ExternalProcessor", "ExtProcPerRoute"],
    ["filter_chain.v3.FilterChainConfig", "FilterChainConfigPerRoute"],
    ["grpc_http1_reverse_bridge.v3.FilterConfig", "FilterConfigPerRoute"],
    ["header_mutation.v3.HeaderMutation", "HeaderMutationPerRoute"],
    ["jwt_authn.v3.JwtAuthentication", "PerRouteConfig"],
    ["lua.v3.Lua", "LuaPerRoute"],
    ["mcp.v3.Mcp", "McpOverride"],
    ["mcp_json_rest_bridge.v3.McpJsonRestBridge", "McpJsonRestBridgePerRoute"],
    ["oauth2.v3.OAuth2", "OAuth2PerRoute"],
    ["on_demand.v3.OnDemand", "PerRouteConfig"],
    ["ratelimit.v3.RateLimit", "RateLimitPerRoute"],
    ["rbac.v3.RBAC", "RBACPerRoute"],
    ["stateful_session.v3.StatefulSession", "StatefulSessionPerRoute"],
  ].map(([type = "", onRoutes = ""]) => [
    `${filters}${type}`,
    `${filters}${type.slice(0, type.lastIndexOf(".") + 1)}${onRoutes}`,
  ]),
);

/** The types of HTTP filters that a route can disable but not configure. */
const notOnRoutes: ReadonlySet<string> = new Set(
  [
    "a2a.v3.A2a",
    "adaptive_concurrency.v3.AdaptiveConcurrency",
    "alternate_protocols_cache.v3.FilterConfig",
    "body_size_limit.v3.BodySizeLimit",
    "cache.v3.CacheConfig",
    "cache_v2.v3.CacheV2Config",
    "cdn_loop.v3.CdnLoopConfig",
    "connect_grpc_bridge.v3.FilterConfig",
    "credential_injector.v3.CredentialInjector",
    "decompressor.v3.Decompressor",
    "gcp_authn.v3.GcpAuthnFilterConfig",
    "grpc_http1_bridge.v3.Config",
    "grpc_stats.v3.FilterConfig",
    "grpc_web.v3.GrpcWeb",
    "health_check.v3.HealthCheck",
    "ip_tagging.v3.IPTagging",
    "mcp_router.v3.McpRouter",
    "original_src.v3.OriginalSrc",
    "proto_api_scrubber.v3.ProtoApiScrubberConfig",
    "proto_message_extraction.v3.ProtoMessageExtractionConfig",
    "rate_limit_quota.v3.RateLimitQuotaOverride",
    "router.v3.Router",
    "tap.v3.Tap",
    "thrift_to_metadata.v3.ThriftToMetadata",
    "wasm.v3.Wasm",
  ].map((name) => `${filters}${name}`),
);

/** Configurations of HTTP filters on virtual hosts, routes and weighted clusters that Envoy rejects. */
export const perRouteChecks: readonly EnvoyCheck[] = [
  ...[
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.route.v3.VirtualHost",
    "envoy.config.route.v3.Route",
    "envoy.config.route.v3.WeightedCluster.ClusterWeight",
  ].map((type) => envoyCheck("wrong-extension", type, perRoute)),
  envoyCheck("wrong-extension", filterConfig, wrapped),
];

function* perRoute({
  typedPerFilterConfig: configs,
}: {
  typedPerFilterConfig: Readonly<Record<string, Any>>;
}): Iterable<EnvoyFinding> {
  yield* misfitsInMap(configs, field, "HTTP filter for a route", [filters, filterConfig]);
  for (const [key, config] of Object.entries(configs)) {
    if (typeOf(config) === filterConfig && config.value.length === 0)
      yield finding([field, keyStep(key)], "needs config or disabled: true");
    yield* typeOnRoute(config, [field, keyStep(key)], false);
  }
}

/** Checks a configuration that is wrapped in another message. */
function* wrapped({
  config,
  disabled,
  isOptional,
}: {
  config?: Any;
  disabled: boolean;
  isOptional: boolean;
}): Iterable<EnvoyFinding> {
  if (config !== undefined && !disabled) yield* typeOnRoute(config, ["config"], isOptional);
}

/** Checks that a route can read the type of a configuration. Envoy reads an empty configuration as any type. */
function* typeOnRoute(
  config: Any,
  at: readonly string[],
  isOptional: boolean,
): Iterable<EnvoyFinding> {
  const type = typeOf(config);
  const onRoutes = typesOnRoutes.get(type);
  if (onRoutes !== undefined && config.value.length > 0)
    yield finding(
      [...at, "@type"],
      `${type} is not read on routes`,
      `write ${quote(`type.googleapis.com/${onRoutes}`)}, which has other fields`,
    );
  if (notOnRoutes.has(type) && !isOptional)
    yield finding(
      [...at, "@type"],
      `${type} cannot be set on routes`,
      `a route can disable the filter with ${filterConfig} and disabled: true`,
    );
}

function typeOf({ typeUrl }: Any): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
