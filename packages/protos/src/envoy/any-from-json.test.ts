import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { NodeSchema } from "../discovery/index.ts";
import { anyFromJson, envoyRegistry, ResourceJsonError } from "./index.ts";

const cluster = (fields: JsonObject): JsonObject => ({
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  ...fields,
});
const port = (value: JsonValue): JsonObject => ({
  endpoint: { address: { socket_address: { port_value: value } } },
});

describe("anyFromJson()", () => {
  it("takes field names in either case", () => {
    const [snake, camel] = [
      cluster({ connect_timeout: "1s", lb_policy: "RING_HASH" }),
      cluster({ connectTimeout: "1s", lbPolicy: 2 }),
    ];
    expect(anyFromJson(snake, envoyRegistry())).toEqual(anyFromJson(camel, envoyRegistry()));
  });

  it("writes what the generated messages read", () => {
    const any = anyFromJson(
      {
        "@type": "type.googleapis.com/envoy.config.core.v3.Node",
        id: "a",
        locality: { sub_zone: "b" },
      },
      envoyRegistry(),
    );
    expect(anyUnpack(any, NodeSchema)).toMatchObject({ id: "a", locality: { subZone: "b" } });
  });

  it.each(["envoy.config.cluster.v3.Cluster", "example.com/envoy.config.cluster.v3.Cluster"])(
    "gives %s the usual host",
    (typeUrl) => {
      expect(anyFromJson({ "@type": typeUrl }, envoyRegistry()).typeUrl).toBe(
        "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      );
    },
  );

  it.each<[string, JsonValue, (string | number)[], RegExp]>([
    ["an unknown field", cluster({ bogus: 1 }), ["bogus"], /^bogus: .*key "bogus" is unknown/],
    [
      "a duration without its unit",
      cluster({ connect_timeout: "5" }),
      ["connect_timeout"],
      /^connect_timeout: .*Duration/,
    ],
    ["a value of another kind", cluster({ name: 5 }), ["name"], /^name: .*expected string, got 5/],
    [
      "an enum value that is not there",
      cluster({ lb_policy: "NOPE" }),
      ["lb_policy"],
      /^lb_policy: .*"NOPE"/,
    ],
    [
      "an element of a list",
      cluster({ load_assignment: { endpoints: [{ lb_endpoints: [port(1), port("x")] }] } }),
      [
        "load_assignment",
        "endpoints",
        0,
        "lb_endpoints",
        1,
        "endpoint",
        "address",
        "socket_address",
        "port_value",
      ],
      /^load_assignment\.endpoints\[0\]\.lb_endpoints\[1\]\.endpoint\.address\.socket_address\.port_value: .*got "x"/,
    ],
    [
      "an entry of a map",
      cluster({ metadata: { filter_metadata: { a: {}, b: [] } } }),
      ["metadata", "filter_metadata", "b"],
      /^metadata\.filter_metadata\.b: /,
    ],
    [
      "a type inside that is not known",
      cluster({ typed_extension_protocol_options: { x: { "@type": "a.B" } } }),
      ["typed_extension_protocol_options", "x", "@type"],
      /@type: the type a\.B is not known; correct the name, or add the descriptors/,
    ],
    [
      "a type that is not known",
      { "@type": "a.B" },
      ["@type"],
      /^@type: the type a\.B is not known/,
    ],
    [
      "an object where a wrapped number belongs",
      cluster({ per_connection_buffer_limit_bytes: { value: 5 } }),
      ["per_connection_buffer_limit_bytes"],
      /^per_connection_buffer_limit_bytes: /,
    ],
    [
      "a bad value of a well-known type",
      { "@type": "type.googleapis.com/google.protobuf.Duration", value: "5" },
      ["value"],
      /^value: /,
    ],
    [
      "an Any in an Any",
      { "@type": "google.protobuf.Any", value: cluster({ bogus: 1 }) },
      ["value", "bogus"],
      /^value\.bogus: /,
    ],
    ["an empty type", { "@type": "" }, ["@type"], /^@type: .*empty/],
    [
      "two of a oneof, of which neither is to blame",
      cluster({ type: "EDS", cluster_type: {} }),
      [],
      /oneof set multiple times by type and cluster_type/,
    ],
    ["no type", { name: "a" }, [], /^a resource needs "@type", such as/],
    ["a type that is not a text", { "@type": 5 }, [], /^a resource needs "@type"/],
    ["a list", [], [], /^a resource is an object with "@type", not a list$/],
    ["null", null, [], /, not null$/],
    ["a text", "a", [], /, not a string$/],
  ])("says where and what for %s", (_, json, path, message) => {
    const error = errorOf(json);
    expect(error).toBeInstanceOf(ResourceJsonError);
    expect(error).toMatchObject({ path, message: expect.stringMatching(message) as string });
  });

  it("shortens a long path in the message, and keeps it whole beside it", () => {
    let json: JsonObject = { bogus: 1 };
    for (let level = 0; level < 50; level++) json = { not_match: json };
    const error = errorOf({ "@type": "envoy.config.common.matcher.v3.MatchPredicate", ...json });
    expect(error).toMatchObject({ path: [...Array<string>(50).fill("not_match"), "bogus"] });
    expect(String(error)).toMatch(
      /^ResourceJsonError: (not_match\.){9}not_match \.\.\. (\.not_match){4}\.bogus: /,
    );
  });
});

function errorOf(json: JsonValue): unknown {
  try {
    return anyFromJson(json, envoyRegistry());
  } catch (error) {
    return error;
  }
}
