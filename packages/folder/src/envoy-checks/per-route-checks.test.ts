import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const filters = "envoy.extensions.filters.http";
const route = "envoy.config.route.v3.Route";
const wrapper = "envoy.config.route.v3.FilterConfig";
const config = (type: string, settings: JsonObject = {}) => ({
  "@type": `type.googleapis.com/${type}`,
  ...settings,
});
const onRoute = (type: string, settings?: JsonObject) => ({
  typed_per_filter_config: { one: config(type, settings) },
});
const wrapped = (type: string, settings: JsonObject, more: JsonObject) =>
  onRoute(wrapper, { config: config(type, settings), ...more });
const buffer = `${filters}.buffer.v3.Buffer`;
const web = `${filters}.grpc_web.v3.GrpcWeb`;

describe("configurations of filters on routes", () => {
  it.each<readonly [problem: string, type: string, json: JsonObject]>([
    ...["RouteConfiguration", "VirtualHost", "Route", "WeightedCluster.ClusterWeight"].map(
      (name) =>
        [
          `wrong-extension typed_per_filter_config["one"].@type: ${buffer} is not read on routes`,
          `envoy.config.route.v3.${name}`,
          onRoute(buffer, { max_request_bytes: 1 }),
        ] as const,
    ),
    [
      `wrong-extension typed_per_filter_config["one"].@type: ${web} cannot be set on routes`,
      route,
      onRoute(web),
    ],
    [
      `wrong-extension typed_per_filter_config["one"].config.@type: ${web} cannot be set on routes`,
      route,
      wrapped(web, {}, {}),
    ],
    [
      `wrong-extension typed_per_filter_config["one"].config.@type: ${buffer} is not read on routes`,
      route,
      wrapped(buffer, { max_request_bytes: 1 }, { is_optional: true }),
    ],
    [
      'wrong-extension typed_per_filter_config["one"]: needs config or disabled: true',
      route,
      onRoute(wrapper),
    ],
  ])("%s", (problem, type, json) => {
    expect(envoyRejections(type, json)).toEqual([problem]);
  });

  it.each<readonly [json: JsonObject]>([
    [onRoute(`${filters}.buffer.v3.BufferPerRoute`, { buffer: { max_request_bytes: 1 } })],
    [onRoute(`${filters}.cors.v3.CorsPolicy`)],
    [onRoute(`${filters}.fault.v3.HTTPFault`)],
    [onRoute(`${filters}.csrf.v3.CsrfPolicy`)],
    // Bytes of no field are those of any message.
    [onRoute(`${filters}.lua.v3.Lua`)],
    [onRoute(wrapper, { disabled: true })],
    [wrapped(web, {}, { disabled: true })],
    [wrapped(web, {}, { is_optional: true })],
    [wrapped(buffer, { max_request_bytes: 1 }, { disabled: true })],
  ])("takes %j", (json) => {
    expect(envoyRejections(route, json)).toEqual([]);
  });
});
