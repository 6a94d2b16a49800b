import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const filters = "envoy.extensions.filters";
const manager = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;
const limit = `${filters}.http.local_ratelimit.v3.LocalRateLimit`;
const router = {
  name: "router",
  typed_config: { "@type": `type.googleapis.com/${filters}.http.router.v3.Router` },
};

/** Returns the rejections of a connection manager with a filter that is written as a Struct. */
const rejections = (
  type: string,
  value: JsonObject,
  { struct = "xds.type.v3.TypedStruct", ...more }: { struct?: string; is_optional?: boolean } = {},
): readonly string[] =>
  envoyRejections(manager, {
    route_config: {},
    http_filters: [
      {
        name: "a",
        typed_config: {
          "@type": `type.googleapis.com/${struct}`,
          type_url: `type.googleapis.com/${type}`,
          value,
        },
        ...more,
      },
      router,
    ],
  });
const at = "http_filters[0].typed_config";
const bucket = { max_tokens: 2, fill_interval: "1s" };

describe("typed structs", () => {
  it("finds a key that the named type does not have", () => {
    const expected = [
      `unknown-field ${at}.value.token_bucket.max_token: envoy.type.v3.TokenBucket: key "max_token" is unknown`,
    ];
    const value = { stat_prefix: "a", token_bucket: { ...bucket, max_token: 1 } };
    expect(rejections(limit, value)).toEqual(expected);
    expect(rejections(limit, value, { struct: "udpa.type.v1.TypedStruct" })).toEqual(expected);
  });

  it("finds a value of another type", () => {
    expect(
      rejections(limit, { stat_prefix: "a", token_bucket: { max_tokens: "many" } }),
    ).toContainEqual(
      `wrong-value ${at}.value.token_bucket.max_tokens: expected number (uint32), got "many"`,
    );
  });

  it("finds what Envoy's code rejects in the message", () => {
    expect(
      rejections(limit, { stat_prefix: "a", token_bucket: { ...bucket, fill_interval: "0.01s" } }),
    ).toEqual([`bad-value ${at}.value.token_bucket.fill_interval: must be at least 0.05s`]);
  });

  it("finds a type of Envoy that does not exist, and one of another kind", () => {
    expect(rejections(`${filters}.http.lua.v3.Lau`, {})).toEqual([
      `unknown-type ${at}.type_url: the type "${filters}.http.lua.v3.Lau" is not known`,
    ]);
    expect(rejections(`${filters}.network.echo.v3.Echo`, {})).toEqual([
      `wrong-extension ${at}.type_url: ${filters}.network.echo.v3.Echo is not a type for http_filters`,
    ]);
  });

  it("takes the forms that Envoy reads, types of others, and optional filters", () => {
    const enabled = { default_value: { numerator: "100", denominator: "hundred" } };
    expect(
      rejections(limit, { statPrefix: "a", token_bucket: bucket, filter_enabled: enabled }),
    ).toEqual([]);
    expect(rejections("acme.Filter", { a: 1 })).toEqual([]);
    expect(rejections(`${filters}.http.none.v3.None`, {}, { is_optional: true })).toEqual([]);
  });

  it("leaves a Struct to the extension that reads it itself", () => {
    const configuration = {
      "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
      type_url: `type.googleapis.com/${limit}`,
      value: { none: 1 },
    };
    expect(
      rejections(`${filters}.http.wasm.v3.Wasm`, {
        config: { vm_config: { runtime: "a" }, configuration },
      }),
    ).toEqual([]);
  });
});
