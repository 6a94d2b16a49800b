import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const tracing =
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing";
const retry = "envoy.config.route.v3.RetryPolicy";
const thrift = "envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy";
const health = "envoy.config.core.v3.HealthCheck";
const filter = "envoy.config.accesslog.v3.AccessLogFilter";
const router = "envoy.extensions.filters.http.router.v3.Router";

const extension = (type: string): JsonObject => ({
  name: "a",
  typed_config: { "@type": `type.googleapis.com/envoy.${type}` },
});
const wrong = extension("extensions.filters.http.router.v3.Router");
const bare = { name: "a" };

describe("places of extensions", () => {
  it.each<readonly [problem: string, type: string, json: JsonObject]>([
    ['wrong-extension provider: "a" has no typed_config', tracing, { provider: bare }],
    [
      "wrong-extension provider.typed_config.@type: envoy.config.trace.v3.LightstepConfig is not the type of a tracer",
      tracing,
      { provider: extension("config.trace.v3.LightstepConfig") },
    ],
    [
      'wrong-extension retry_host_predicate[0]: "a" has no typed_config',
      retry,
      { retry_host_predicate: [bare] },
    ],
    [
      `wrong-extension retry_host_predicate[0].typed_config.@type: ${router} is not the type of a predicate for hosts`,
      retry,
      { retry_host_predicate: [wrong] },
    ],
    [
      `wrong-extension retry_priority.typed_config.@type: ${router} is not the type of a priority for retries`,
      retry,
      { retry_priority: wrong },
    ],
    [
      'wrong-extension thrift_filters[0]: "a" has no typed_config',
      thrift,
      { thrift_filters: [bare] },
    ],
    [
      'wrong-extension custom_health_check: "a" has no typed_config',
      health,
      { custom_health_check: bare },
    ],
    [
      `wrong-extension extension_filter.typed_config.@type: ${router} is not the type of a filter of access logs`,
      filter,
      { extension_filter: wrong },
    ],
  ])("%s", (problem, type, json) => {
    expect(envoyRejections(type, json)).toEqual([problem]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [tracing, {}],
    [tracing, { provider: extension("config.trace.v3.DatadogConfig") }],
    [tracing, { provider: extension("extensions.tracers.fluentd.v3.FluentdConfig") }],
    [
      retry,
      {
        retry_host_predicate: [
          extension("extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"),
        ],
        retry_priority: extension(
          "extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
        ),
      },
    ],
    [
      thrift,
      {
        thrift_filters: [
          extension(
            "extensions.filters.network.thrift_proxy.filters.header_to_metadata.v3.HeaderToMetadata",
          ),
          extension("extensions.filters.network.thrift_proxy.router.v3.Router"),
        ],
      },
    ],
    [health, { custom_health_check: extension("extensions.health_checkers.redis.v3.Redis") }],
    [
      filter,
      {
        extension_filter: extension(
          "extensions.access_loggers.filters.process_ratelimit.v3.ProcessRateLimitFilter",
        ),
      },
    ],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
