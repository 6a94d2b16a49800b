import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, createRegistry, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { AnySchema, anyPack, FileDescriptorSetSchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { describe, expect, it } from "vitest";
import type { Body } from "../test/example-messages.ts";
import { clusterBody, packed } from "../test/example-messages.ts";
import { createValidator } from "./create-validator.ts";

const validator = await createValidator({ registry: envoyRegistry() });

/** Returns the violations in a resource, one line each. */
function problems(typeName: string, body: Body): readonly string[] {
  return lines(packed(typeName, body));
}

function lines(resource: Any): readonly string[] {
  return validator
    .check(AnySchema, resource)
    .map(({ field, rule, message }) => `${field} ${message} [${rule}]`);
}

const envoy = "envoy.config";

describe("the validator", () => {
  it("says nothing about a valid cluster", () => {
    expect(problems(`${envoy}.cluster.v3.Cluster`, clusterBody("web"))).toEqual([]);
  });

  it("finds every violation, in fields, lists, maps and what an Any holds", () => {
    const cluster = {
      ...clusterBody("web"),
      connect_timeout: "0s",
      load_assignment: {
        endpoints: [
          {
            lb_endpoints: [
              { endpoint: { address: {} } },
              { endpoint: { address: { socket_address: { address: "::1", port_value: 70000 } } } },
            ],
          },
        ],
      },
      metadata: { filter_metadata: { "": {} } },
      typed_extension_protocol_options: {
        "envoy.http": {
          "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        },
      },
    };
    expect(problems(`${envoy}.cluster.v3.Cluster`, cluster)).toEqual([
      "connect_timeout must be more than 0s [duration.gt]",
      "load_assignment.cluster_name must not be empty [string.min_len]",
      "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.address needs one of socket_address, pipe, envoy_internal_address [required]",
      "load_assignment.endpoints[0].lb_endpoints[1].endpoint.address.socket_address.port_value must be at most 65535 [uint32.lte]",
      'typed_extension_protocol_options["envoy.http"].upstream_protocol_options needs one of explicit_http_config, use_downstream_protocol_config, auto_config [required]',
      'metadata.filter_metadata[""] as a key must not be empty [string.min_len]',
    ]);
  });

  const rules: readonly (readonly [string, Body, readonly string[]])[] = [
    ["core.v3.HttpUri", { uri: "http://x", cluster: "c" }, ["timeout is required [required]"]],
    [
      "core.v3.HttpUri",
      { uri: "", cluster: "", timeout: "-1s" },
      [
        "uri must not be empty [string.min_len]",
        "cluster must not be empty [string.min_len]",
        "timeout must be at least 0s [duration.gte]",
      ],
    ],
    [
      "core.v3.HeaderValue",
      { key: "a\nb", value: "\0" },
      [
        "key must not contain a line break or a NUL character [string.well_known_regex.header_name]",
        "value must not contain a line break or a NUL character [string.well_known_regex.header_value]",
      ],
    ],
    ["core.v3.HeaderValue", { key: "" }, ["key must not be empty [string.min_len]"]],
    [
      "core.v3.HealthCheck.HttpHealthCheck",
      { path: "/", method: "CONNECT" },
      ["method must not be CONNECT [enum.not_in]"],
    ],
    [
      "cluster.v3.Cluster",
      { name: "c", type: 17 },
      ["type must be a value of envoy.config.cluster.v3.Cluster.DiscoveryType [enum.defined_only]"],
    ],
    [
      "route.v3.RouteMatch",
      { path_separated_prefix: "/a/" },
      ["path_separated_prefix must match the pattern ^[^?#]+[^?#/]$ [string.pattern]"],
    ],
    [
      "core.v3.SchemeHeaderTransformation",
      { scheme_to_overwrite: "ftp" },
      ['scheme_to_overwrite must be one of "http", "https" [string.in]'],
    ],
    [
      "core.v3.ExtensionConfigSource",
      { config_source: { api_config_source: { request_timeout: "0s" } } },
      ["type_urls must not be empty [repeated.min_items]"],
    ],
    ["core.v3.KeyValueAppend", { entry: { key: "" } }, []],
    [
      "cluster.v3.Cluster.RingHashLbConfig",
      { minimum_ring_size: "8388609" },
      ["minimum_ring_size must be at most 8388608 [uint64.lte]"],
    ],
    [
      "route.v3.DirectResponseAction",
      { status: 199 },
      ["status must be at least 200 [uint32.gte]"],
    ],
    [
      "route.v3.DirectResponseAction",
      { status: 600 },
      ["status must be less than 600 [uint32.lt]"],
    ],
    [
      "route.v3.InternalRedirectPolicy",
      { response_headers_to_copy: ["a", "b", "a"] },
      ["response_headers_to_copy[2] must not repeat an earlier item [repeated.unique]"],
    ],
    [
      "metrics.v3.HistogramBucketSettings",
      { match: { exact: "x" }, buckets: [0.5, "NaN", "NaN", 0.5] },
      ["buckets[3] must not repeat an earlier item [repeated.unique]"],
    ],
    [
      "route.v3.RateLimit.HitsAddend",
      { format: "x" },
      ['format must begin with "%" [string.prefix]', 'format must end with "%" [string.suffix]'],
    ],
  ];
  it.each(rules)("checks a %s %j", (typeName, body, expected) => {
    expect(problems(`${envoy}.${typeName}`, body)).toEqual(expected);
  });

  it("knows the rules of extensions that go-control-plane does not have", () => {
    const extensions = "envoy.extensions";
    const server = { max_supported_protocol_version: "1999-01-01" };
    expect(
      problems(`${extensions}.filters.http.mcp_json_rest_bridge.v3.ServerInfo`, server),
    ).toEqual([
      'max_supported_protocol_version must be one of "2025-11-25", "2026-07-28" [string.in]',
    ]);
    const tunnel = `${extensions}.reverse_tunnel_reporters.v3alpha.clients.grpc_client.ReverseTunnel`;
    expect(problems(tunnel, {})).toContain("created_at is required [required]");
  });

  it("gives the path in steps that lead through JSON", () => {
    const cluster = {
      name: "c",
      load_assignment: { cluster_name: "c", endpoints: [{ priority: 129 }] },
    };
    const [violation] = validator.check(AnySchema, packed(`${envoy}.cluster.v3.Cluster`, cluster));
    expect(violation?.path).toEqual([
      { kind: "field", name: "load_assignment", jsonName: "loadAssignment" },
      { kind: "field", name: "endpoints", jsonName: "endpoints" },
      { kind: "index", index: 0 },
      { kind: "field", name: "priority", jsonName: "priority" },
    ]);
  });

  it("checks messages of generated code, which has no rules itself, by those of the registry", () => {
    const cluster: MessageInitShape<typeof ClusterSchema> = {
      name: "web",
      loadAssignment: { endpoints: [{ loadBalancingWeight: 0 }] },
    };
    expect(
      validator.check(ClusterSchema, create(ClusterSchema, cluster)).map(({ field }) => field),
    ).toEqual([
      "load_assignment.cluster_name",
      "load_assignment.endpoints[0].load_balancing_weight",
    ]);
  });

  it("takes messages of an older copy of the API, which has fewer fields and oneofs", () => {
    const older = createFileRegistry(
      create(FileDescriptorSetSchema, {
        file: [
          {
            name: "address.proto",
            package: "envoy.config.core.v3",
            syntax: "proto3",
            messageType: [{ name: "SocketAddress" }],
          },
        ],
      }),
    ).getMessage("envoy.config.core.v3.SocketAddress");
    if (older === undefined) throw new Error("no such type");
    expect(validator.check(older, create(older))).toEqual([]);
  });

  it("never shows the value, which may be a secret", () => {
    const secret = "p4ss\nword";
    const text = problems(`${envoy}.core.v3.HeaderValue`, { key: secret, value: secret }).join();
    expect(text).toContain("must not contain");
    expect(text).not.toContain("p4ss");
  });

  it("says nothing about an Any of a type that it does not know, or without one", () => {
    const extension = (typeUrl: string): Any =>
      create(AnySchema, { typeUrl, value: new Uint8Array(9) });
    expect(lines(extension("type.googleapis.com/acme.v1.Unknown"))).toEqual([]);
    expect(lines(extension(""))).toEqual([]);
    const plain = packed(`${envoy}.core.v3.TypedExtensionConfig`, { name: "x" });
    expect(lines(plain)).toEqual(["typed_config is required [required]"]);
  });

  it("does not look into a TypedStruct, whose fields have no types", () => {
    const typeUrl = "type.googleapis.com/envoy.config.core.v3.SocketAddress";
    expect(
      problems("xds.type.v3.TypedStruct", { type_url: typeUrl, value: { port_value: 70000 } }),
    ).toEqual([]);
  });

  it("says so where an Any does not hold the message that it says it does", () => {
    const typeUrl = `type.googleapis.com/${envoy}.cluster.v3.Cluster`;
    expect(lines(create(AnySchema, { typeUrl, value: new Uint8Array([255, 255]) }))).toEqual([
      " does not hold a message of envoy.config.cluster.v3.Cluster [any.value]",
    ]);
  });

  it("takes any registry: without the options of protoc-gen-validate no field has rules", async () => {
    const bare = await createValidator({ registry: createRegistry(StructSchema) });
    expect(bare.check(ClusterSchema, create(ClusterSchema))).toEqual([]);
  });
});

describe("messages within each other", () => {
  it("may be a hundred, and no more: an Any in an Any", () => {
    const nested = (levels: number): Any => {
      let any = packed(`${envoy}.core.v3.TypedExtensionConfig`, { name: "x" });
      for (let level = 1; level < levels; level++) any = anyPack(AnySchema, any);
      return any;
    };
    expect(lines(nested(99)).map((line) => line.replace(/^.* \[/, "["))).toEqual(["[required]"]);
    expect(lines(nested(100))).toEqual([" is within more than 100 messages [nesting]"]);
    expect(lines(nested(500))).toEqual([" is within more than 100 messages [nesting]"]);
  });

  it("are counted in encoded messages, too", () => {
    const length = (bytes: Uint8Array): readonly number[] =>
      bytes.length < 128 ? [bytes.length] : [128 | (bytes.length & 127), bytes.length >> 7];
    // Field 4 is Matcher.MatcherList.Predicate.not_matcher.
    let value = new Uint8Array();
    for (let level = 0; level < 1000; level++)
      value = new Uint8Array([34, ...length(value), ...value]);
    const typeUrl = "type.googleapis.com/xds.type.matcher.v3.Matcher.MatcherList.Predicate";
    expect(lines(create(AnySchema, { typeUrl, value }))).toEqual([
      " has more than 100 messages within each other [nesting]",
    ]);
  });

  it("are counted in messages that a program has made", () => {
    const desc = envoyRegistry().getMessage("xds.type.matcher.v3.Matcher.MatcherList.Predicate");
    if (desc === undefined) throw new Error("no such type");
    let predicate = create(desc);
    for (let level = 0; level < 100_000; level++)
      predicate = create(desc, { matchType: { case: "notMatcher", value: predicate } });
    const [violation, ...others] = validator.check(desc, predicate);
    expect(others).toEqual([]);
    expect(violation).toMatchObject({
      rule: "nesting",
      message: "is within more than 100 messages",
    });
    expect(violation?.path).toHaveLength(100);
  });

  it("cost no more than the messages themselves", () => {
    const cluster = packed(`${envoy}.cluster.v3.Cluster`, clusterBody("web"));
    const wide = create(AnySchema, {
      typeUrl: "type.googleapis.com/google.protobuf.Any",
      value: toBinary(AnySchema, cluster),
    });
    expect(lines(wide)).toEqual([]);
  });
});
