import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const routes = "envoy.config.route.v3.RouteConfiguration";
const add = (key: string): JsonObject => ({ header: { key, value: "v" } });

describe("lists of headers", () => {
  it.each<readonly [type: string, json: JsonObject, problem: string]>([
    [
      routes,
      { request_headers_to_add: [add("x-a"), add(":path")] },
      'request_headers_to_add[1].header.key: ":path" cannot be set in this way',
    ],
    [
      routes,
      { response_headers_to_add: [add("Host")] },
      'response_headers_to_add[0].header.key: "Host" cannot be set in this way',
    ],
    [
      routes,
      { virtual_hosts: [{ name: "a", domains: ["a"], request_headers_to_remove: ["host"] }] },
      'virtual_hosts[0].request_headers_to_remove[0]: "host" cannot be removed',
    ],
    [
      routes,
      { response_headers_to_remove: ["x-a", ":status"] },
      'response_headers_to_remove[1]: ":status" cannot be removed',
    ],
    [
      "envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest",
      { headers_to_add: [{ key: ":authority", value: "a" }] },
      'headers_to_add[0].key: ":authority" cannot be set in this way',
    ],
  ])("of %s do not take %j", (type, json, problem) => {
    expect(envoyRejections(type, json)).toEqual([`bad-header ${problem}`]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [routes, { request_headers_to_add: [add("x-host")], request_headers_to_remove: ["x-a"] }],
    [
      "envoy.config.common.mutation_rules.v3.HeaderMutation",
      { remove: "host" }, // Envoy passes over it.
    ],
    ["envoy.config.core.v3.HttpService", { request_headers_to_add: [add("host")] }],
  ])("of %s take %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
