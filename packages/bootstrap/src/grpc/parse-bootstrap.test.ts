import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import type { Bootstrap } from "./bootstrap.ts";
import { parseBootstrap, readBootstrap } from "./read-bootstrap.ts";

const insecure = { server_uri: "xds.example:443", channel_creds: [{ type: "insecure" }] };
const minimal = { xds_servers: [insecure] };

function first(json: string | object): Bootstrap["servers"][0] {
  const [server] = parseBootstrap(json).servers;
  if (server === undefined) throw new Error("no server");
  return server;
}

function problemOf(json: string | object): string {
  try {
    parseBootstrap(json, "b.json");
  } catch (error) {
    if (error instanceof XdsError) return `${error.code} ${error.text}`;
    throw error;
  }
  return "none";
}

describe("parseBootstrap()", () => {
  it("reads what a client needs at least [C-GRPC-1]", () => {
    expect(parseBootstrap(JSON.stringify(minimal))).toEqual({
      servers: [{ uri: "xds.example:443", credentials: { type: "insecure" }, features: new Set() }],
      node: { id: "", cluster: "" },
      authorities: new Map(),
      certificateProviders: new Map(),
    });
  });

  it("reads everything that gRPC knows [C-GRPC-1]", () => {
    const other = { server_uri: "unix:///run/xds.sock", channel_creds: [{ type: "insecure" }] };
    expect(
      parseBootstrap({
        xds_servers: [{ ...insecure, server_features: ["xds_v3", "trusted_xds_server"] }, other],
        node: {
          id: "n",
          cluster: "c",
          locality: { region: "r", zone: "z", sub_zone: "s" },
          metadata: { a: [1, null, { b: true }] },
        },
        authorities: {
          "": {},
          "a b": {
            client_listener_resource_name_template: "xdstp://a%20b/t/%s",
            xds_servers: [other],
            fallback_on_reachability_only: true,
          },
          __proto__x: {},
        },
        client_default_listener_resource_name_template: "xdstp://x/t/%s",
        server_listener_resource_name_template: "grpc/server?%s",
        certificate_providers: {
          default: { plugin_name: "file_watcher", config: { certificate_file: "c" } },
          bare: { plugin_name: "p" },
        },
      }),
    ).toEqual({
      servers: [
        {
          uri: "xds.example:443",
          credentials: { type: "insecure" },
          features: new Set(["xds_v3", "trusted_xds_server"]),
        },
        { uri: "unix:///run/xds.sock", credentials: { type: "insecure" }, features: new Set() },
      ],
      node: {
        id: "n",
        cluster: "c",
        locality: { region: "r", zone: "z", subZone: "s" },
        metadata: { a: [1, null, { b: true }] },
      },
      authorities: new Map([
        ["", { servers: [], fallbackOnReachabilityOnly: false }],
        [
          "a b",
          {
            clientListenerTemplate: "xdstp://a%20b/t/%s",
            servers: [
              {
                uri: "unix:///run/xds.sock",
                credentials: { type: "insecure" },
                features: new Set(),
              },
            ],
            fallbackOnReachabilityOnly: true,
          },
        ],
        ["__proto__x", { servers: [], fallbackOnReachabilityOnly: false }],
      ]),
      clientListenerTemplate: "xdstp://x/t/%s",
      serverListenerTemplate: "grpc/server?%s",
      certificateProviders: new Map([
        ["default", { plugin: "file_watcher", config: { certificate_file: "c" } }],
        ["bare", { plugin: "p", config: {} }],
      ]),
    });
  });

  it.each([
    [
      "of 2020, for v2 servers, without a locality",
      { ...minimal, node: { id: "n", metadata: { TRAFFICDIRECTOR_NETWORK_NAME: "default" } } },
      [],
    ],
    [
      "of 2021, which asks for v3",
      {
        ...minimal,
        xds_servers: [{ ...insecure, server_features: ["xds_v3"] }],
        node: { id: "n", locality: {} },
      },
      ["xds_v3"],
    ],
    [
      "of 2022, with ignore_resource_deletion",
      {
        ...minimal,
        xds_servers: [{ ...insecure, server_features: ["xds_v3", "ignore_resource_deletion"] }],
      },
      ["xds_v3", "ignore_resource_deletion"],
    ],
    [
      "of 2024, with trusted_xds_server",
      { ...minimal, xds_servers: [{ ...insecure, server_features: ["trusted_xds_server"] }] },
      ["trusted_xds_server"],
    ],
    [
      "of 2025, with data errors and timers",
      {
        ...minimal,
        xds_servers: [
          {
            ...insecure,
            server_features: ["fail_on_data_errors", "resource_timer_is_transient_error"],
          },
        ],
      },
      ["fail_on_data_errors", "resource_timer_is_transient_error"],
    ],
    [
      "of days to come",
      {
        ...minimal,
        new: 1,
        xds_servers: [
          { ...insecure, call_creds: [{}], new: [], server_features: ["new", { a: 1 }, 7, "new"] },
        ],
        node: { id: "n", new: true },
      },
      ["new"],
    ],
  ])("reads a file %s [C-GRPC-1]", (_, json, features) => {
    expect([...first(json).features]).toEqual(features);
  });

  it.each([
    [
      "the first that is known",
      [
        { type: "google_default" },
        { type: "new", config: 1 },
        { type: "insecure" },
        { type: "tls" },
      ],
      { type: "insecure" },
    ],
    [
      "TLS, after Google's",
      [{ type: "google_default" }, { type: "tls" }],
      { type: "tls", refreshIntervalMs: 600_000 },
    ],
    [
      "TLS with what Node trusts",
      [{ type: "tls" }, { type: "insecure" }],
      { type: "tls", refreshIntervalMs: 600_000 },
    ],
    [
      "mutual TLS",
      [
        {
          type: "tls",
          config: {
            ca_certificate_file: "ca",
            certificate_file: "c",
            private_key_file: "k",
            refresh_interval: "1.5s",
          },
        },
      ],
      {
        type: "tls",
        caCertificateFile: "ca",
        certificateFile: "c",
        privateKeyFile: "k",
        refreshIntervalMs: 1500,
      },
    ],
  ])("takes of the credentials %s [C-GRPC-1]", (_, channel_creds, credentials) => {
    expect(first({ xds_servers: [{ ...insecure, channel_creds }] }).credentials).toEqual(
      credentials,
    );
  });

  it("takes the type of a transport, in its order, with its configuration [C-GRPC-1]", () => {
    const channel_creds = [
      { type: "other" },
      { type: "acme", config: { key: 1 } },
      { type: "insecure" },
    ];
    const json = {
      xds_servers: [{ server_uri: "acme:1", channel_creds }],
      authorities: { a: { xds_servers: [{ server_uri: "b", channel_creds }] } },
    };
    const acme = { type: "transport", name: "acme", config: { key: 1 } };
    const { servers, authorities } = readBootstrap({ json, transports: ["acme"] });
    expect(servers[0]?.credentials).toEqual(acme);
    expect(authorities.get("a")?.servers[0]?.credentials).toEqual(acme);
    expect(parseBootstrap(json).servers[0]?.credentials).toEqual({ type: "insecure" });
  });

  it("reads a text with a byte order mark, and takes null for absent", () => {
    expect(
      first(`\uFEFF${JSON.stringify({ ...minimal, node: null, authorities: null })}`).uri,
    ).toBe("xds.example:443");
  });

  it("keeps names apart from those that every object has", () => {
    const { authorities } = parseBootstrap(
      '{"xds_servers": [{"server_uri": "a", "channel_creds": [{"type": "insecure"}]}], "authorities": {"__proto__": {}, "constructor": {}}}',
    );
    expect([...authorities.keys()]).toEqual(["__proto__", "constructor"]);
    expect(problemOf('{"__proto__": {"xds_servers": []}}')).toContain("has no xds_servers");
  });

  const withCreds = (...channel_creds: readonly object[]): object => ({
    xds_servers: [{ server_uri: "a", channel_creds }],
  });
  it.each<[string | object, string]>([
    ["", "the bootstrap is empty; give a JSON object with xds_servers"],
    ["[]", "the bootstrap is an array; it must be an object"],
    ["null", "the bootstrap is null; it must be an object"],
    [
      '{"xds_servers":\n  [,]}',
      "the bootstrap is not JSON; comments, and commas before a bracket, are not allowed in it",
    ],
    [
      '{"node": "secr',
      "the bootstrap is not JSON at line 1 column 15; comments, and commas before a bracket, are not allowed in it",
    ],
    [
      {},
      'the bootstrap has no xds_servers; give [{"server_uri": "host:port", "channel_creds": [{"type": "insecure"}]}]',
    ],
    [
      { xds_servers: [] },
      'the bootstrap has no xds_servers; give [{"server_uri": "host:port", "channel_creds": [{"type": "insecure"}]}]',
    ],
    [{ xds_servers: {} }, "xds_servers is an object; it must be an array"],
    [{ xds_servers: [insecure, 7] }, "xds_servers[1] is a number; it must be an object"],
    [
      { xds_servers: [{ ...insecure, server_uri: 7 }] },
      "xds_servers[0].server_uri is a number; it must be a string",
    ],
    [
      { xds_servers: [{ ...insecure, server_uri: "" }] },
      'xds_servers[0] has no server_uri; give a string like "host:port"',
    ],
    [
      { xds_servers: [{ server_uri: "a" }] },
      'xds_servers[0] has no channel_creds; give [{"type": "insecure"}] or [{"type": "tls"}]',
    ],
    [withCreds({}), 'xds_servers[0].channel_creds[0] has no type; give "insecure" or "tls"'],
    [
      withCreds({ type: "google_default" }),
      'xds_servers[0].channel_creds has only "google_default", unknown here (google_default needs Google\'s client); add "insecure" or "tls"',
    ],
    [
      withCreds({ type: "xds" }, { type: "new" }),
      'xds_servers[0].channel_creds has only "xds", "new", unknown here; add "insecure" or "tls"',
    ],
    [
      withCreds({ type: "tls", config: 1 }),
      "xds_servers[0].channel_creds[0].config is a number; it must be an object",
    ],
    [
      withCreds({ type: "tls", config: { certificate_file: "c" } }),
      "xds_servers[0].channel_creds[0].config has certificate_file alone; give certificate_file and private_key_file, or neither",
    ],
    [
      withCreds({ type: "tls", config: { private_key_file: "c" } }),
      "xds_servers[0].channel_creds[0].config has private_key_file alone; give certificate_file and private_key_file, or neither",
    ],
    ...["10m", "0s", "-1s", "s", "0.0000001s"].map(
      (text) =>
        [
          withCreds({ type: "tls", config: { refresh_interval: text } }),
          `xds_servers[0].channel_creds[0].config.refresh_interval is ${JSON.stringify(text)}; give a duration above zero in seconds, like "600s"`,
        ] as [object, string],
    ),
    [{ ...minimal, node: [] }, "node is an array; it must be an object"],
    [{ ...minimal, node: { id: 1 } }, "node.id is a number; it must be a string"],
    [
      { ...minimal, node: { locality: { sub_zone: true } } },
      "node.locality.sub_zone is a boolean; it must be a string",
    ],
    [{ ...minimal, node: { metadata: "x" } }, "node.metadata is a string; it must be an object"],
    [
      { ...minimal, authorities: { "a.b": { xds_servers: [{}] } } },
      'authorities["a.b"].xds_servers[0] has no server_uri; give a string like "host:port"',
    ],
    [
      { ...minimal, authorities: { a: { fallback_on_reachability_only: "yes" } } },
      'authorities["a"].fallback_on_reachability_only is a string; it must be true or false',
    ],
    [
      {
        ...minimal,
        authorities: { a: { client_listener_resource_name_template: "xdstp://b/t/%s" } },
      },
      'authorities["a"] has a client_listener_resource_name_template of another authority; its own begin like xdstp://a/envoy.config.listener.v3.Listener/%s',
    ],
    [
      { ...minimal, certificate_providers: { a: {} } },
      'certificate_providers["a"] has no plugin_name; give one like "file_watcher"',
    ],
  ])("rejects %j and says where and why [C-GRPC-1]", (json, problem) => {
    expect(problemOf(json)).toBe(`INVALID_ARGUMENT b.json: ${problem}`);
  });

  it("rejects what is huge or nests without end, and shows nothing of it [C-LIM-7, B-LIM-5]", () => {
    const nested = (depth: number): string =>
      `{"xds_servers": [{"server_uri": "a", "channel_creds": [{"type": "insecure"}]}], "node": {"metadata": ${'{"a":'.repeat(depth - 2)}1${"}".repeat(depth)}`;
    expect(problemOf(nested(32))).toBe("none");
    expect(problemOf(nested(33))).toBe(
      "INVALID_ARGUMENT b.json: the bootstrap nests deeper than 32 levels; no bootstrap needs more",
    );
    expect(problemOf(nested(500_000))).toContain("nests deeper than 32 levels");
    expect(problemOf(`"${"x".repeat(5_000_000)}"`)).toBe(
      "INVALID_ARGUMENT b.json: the bootstrap has 5000002 characters; at most 4194304 are read",
    );
    expect(problemOf(withCreds({ type: "x".repeat(1000) })).length).toBeLessThan(200);
  });
});
