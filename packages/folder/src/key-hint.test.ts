import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { keyHint, typeHint } from "./key-hint.ts";

const registry = envoyRegistry();
const filters = "envoy.extensions.filters";

describe("keyHint()", () => {
  const hint = (type: string, key: string) => keyHint(key, registry.getMessage(type));

  it("suggests the field that was mistyped", () => {
    expect(hint("envoy.config.cluster.v3.Cluster", "conect_timeout")).toBe(
      "did you mean connect_timeout?",
    );
  });

  it.each([
    [
      "envoy.config.listener.v3.Filter",
      "config",
      'it is of API v2; write typed_config with "@type"',
    ],
    ["envoy.config.cluster.v3.Cluster", "hosts", "it is of API v2; write load_assignment"],
    [
      "envoy.config.listener.v3.FilterChain",
      "tls_context",
      "it is of API v2; write transport_socket",
    ],
    ["envoy.config.bootstrap.v3.Bootstrap", "runtime", "it is of API v2; write layered_runtime"],
    [
      "envoy.config.bootstrap.v3.Bootstrap",
      "concurrency",
      "it is an option of the command: envoy --concurrency",
    ],
  ])("names what replaces %s.%s", (type, key, expected) => {
    expect(hint(type, key)).toBe(expected);
  });

  it("finds a field that belongs one level deeper", () => {
    expect(hint("envoy.config.endpoint.v3.LbEndpoint", "address")).toBe(
      "it is a field of endpoint; indent it below",
    );
    expect(hint("envoy.config.endpoint.v3.LbEndpoint", "nothing_of_this_kind")).toBeUndefined();
    expect(hint("envoy.config.route.v3.VirtualHost", "hosts")).toBeUndefined();
  });
});

describe("typeHint()", () => {
  it.each([
    [
      "envoy.config.filter.network.http_connection_manager.v2.HttpConnectionManager",
      `${filters}.network.http_connection_manager.v3.HttpConnectionManager`,
    ],
    [
      "envoy.api.v2.auth.UpstreamTlsContext",
      "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    ],
    [`${filters}.http.oauth2.v3alpha.OAuth2`, `${filters}.http.oauth2.v3.OAuth2`],
    [`${filters}.http.lua.v3.Lau`, `${filters}.http.lua.v3.Lua`],
  ])("suggests for %s", (type, meant) => {
    expect(typeHint(type, registry)).toBe(`did you mean ${meant}?`);
  });

  it("suggests nothing for a type of others", () => {
    expect(typeHint("acme.flags.v1.FeatureFlag", registry)).toBeUndefined();
  });
});
