import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { ConfigSourceSchema } from "@xdstp/protos/envoy/core";
import { describe, expect, it } from "vitest";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { api, envoy, from, google, type Json } from "../../test/envoy-json.ts";
import { type BootstrapServer, type ServerConfig, serverId } from "../index.ts";
import { readConfigSource, type ReadConfigSourceOptions } from "./index.ts";
import { configSourceReader } from "./read-config-source.ts";

const insecure: BootstrapServer = {
  uri: "cluster:1",
  credentials: { type: "insecure" },
  features: new Set(),
};
const options: ReadConfigSourceOptions = {
  clusters: (name) => (name === "xds" ? [insecure, { ...insecure, uri: "cluster:2" }] : undefined),
};

/** Returns the servers of an api_config_source. */
function serversOf(config: Json): readonly ServerConfig[] {
  const read = readConfigSource({ api_config_source: config }, options);
  return read.kind === "servers" ? read.servers : [];
}

const first = (config: Json): ServerConfig | undefined => serversOf(config)[0];

/** Returns an ApiConfigSource of the type REST. */
const rest = (more: Json = {}): Json =>
  api([], { api_type: "REST", cluster_names: ["xds"], refresh_delay: "5s", ...more });

function problemOf(config: object | string): string {
  try {
    return JSON.stringify(readConfigSource(config, options));
  } catch (error) {
    if (error instanceof XdsError) return error.message;
    throw error;
  }
}

describe("readConfigSource()", () => {
  it.each([
    ["ads", { ads: {} }, { kind: "ads" }],
    ["self", { self: {} }, { kind: "self" }],
    [
      "self with its version",
      { self: { transport_api_version: "V3" }, resource_api_version: "V3" },
      { kind: "self" },
    ],
    ["an API", from("s:1"), { kind: "servers", servers: [{ uri: "s:1" }] }],
  ])("reads the kind %s [C-AUTH-6]", (_, config, expected) => {
    expect(readConfigSource(config)).toMatchObject({
      ...expected,
      authorities: [],
      initialFetchMs: 15_000,
    });
  });

  it.each([
    ["GRPC", "sotw", false],
    ["DELTA_GRPC", "delta", false],
    ["AGGREGATED_GRPC", "sotw", true],
    ["AGGREGATED_DELTA_GRPC", "delta", true],
  ])("speaks to %s in %s, aggregated: %s [C-AGG-2]", (api_type, variant, aggregated) => {
    expect(serversOf(api([google("s:1")], { api_type }))).toEqual([
      {
        uri: "s:1",
        credentials: { type: "insecure" },
        features: new Set(),
        variant,
        aggregated,
        keepRemoved: false,
      },
    ]);
  });

  it("polls the clusters of REST in order, per type and in SotW [C-REST-6] [C-REST-7]", () => {
    const config = rest({ cluster_names: ["xds", "more"], request_timeout: "20s" });
    const uses: unknown[] = [];
    const read = readConfigSource(
      { api_config_source: config },
      {
        clusters: (name, use) => {
          uses.push([name, use]);
          return name === "more" ? [{ ...insecure, uri: "more:1" }] : options.clusters?.(name);
        },
      },
    );
    const servers = read.kind === "servers" ? read.servers : [];
    expect(servers.map(({ uri }) => uri)).toEqual(["cluster:1", "cluster:2", "more:1"]);
    expect(uses).toEqual([
      ["xds", "rest"],
      ["more", "rest"],
    ]);
    expect(servers[0]).toEqual({
      ...insecure,
      variant: "sotw",
      aggregated: false,
      keepRemoved: false,
      rest: { refreshMs: 5_000, requestTimeoutMs: 20_000 },
    });
  });

  it("follows the file of a path, per type and in SotW [C-FILE-4]", () => {
    const path = "/etc/envoy/a b.yaml";
    const server = {
      ...insecure,
      uri: "file:///etc/envoy/a%20b.yaml",
      variant: "sotw",
      aggregated: false,
      keepRemoved: false,
    };
    const serversIn = (config: object): unknown =>
      (readConfigSource(config) as { readonly servers: unknown }).servers;
    expect(serversIn({ path })).toEqual([{ ...server, file: { path } }]);
    expect(serversIn({ path_config_source: { path } })).toEqual([{ ...server, file: { path } }]);
    expect(
      serversIn({ path_config_source: { path, watched_directory: { path: "/etc/envoy" } } }),
    ).toEqual([{ ...server, file: { path, watchedDirectory: "/etc/envoy" } }]);
    expect(serversIn({ path: "cds.yaml" })).toMatchObject([
      { file: { path: join(process.cwd(), "cds.yaml") } },
    ]);
  });

  it("gives a server that is polled another id for gRPC, and for other times of polls [C-AGG-1]", () => {
    const polled = first(rest());
    const all = [
      first(api([envoy("xds")], { api_type: "GRPC" })),
      polled,
      first(rest({ refresh_delay: "6s" })),
      first(rest({ request_timeout: "2s" })),
    ].map((server) => server && serverId(server));
    expect(new Set(all).size).toBe(4);
    expect(serverId({ ...insecure, ...polled })).toBe(all[1]);
  });

  it("gives a file another id with a watched directory [C-AGG-1]", () => {
    const path = { path: "/etc/xds/cds.yaml" };
    const ids = [path, { ...path, watched_directory: { path: "/etc/xds" } }, path].map((source) => {
      const read = readConfigSource({ path_config_source: source });
      return read.kind === "servers" ? read.servers.map(serverId).join() : "";
    });
    expect([ids[1] === ids[0], ids[2] === ids[0]]).toEqual([false, true]);
  });

  it("reads authorities exactly as they are written, each once [C-AUTH-2]", () => {
    expect(readConfigSource(from("s:1", ["a", "A", "a:1", "a", ""])).authorities).toEqual([
      "a",
      "A",
      "a:1",
      "",
    ]);
  });

  it.each([
    ["15s", 15_000],
    ["0s", 0],
    ["1.5s", 1_500],
    ["0.0001s", 1],
  ])("reads an initial_fetch_timeout of %s as %i ms [C-WARM-3]", (initial_fetch_timeout, ms) => {
    expect(readConfigSource({ ads: {}, initial_fetch_timeout }).initialFetchMs).toBe(ms);
  });

  it("takes several grpc_services in order, and the addresses of a cluster [C-AUTH-3]", () => {
    expect(
      serversOf(api([google("s:1"), envoy("xds"), google("s:2")])).map(({ uri }) => uri),
    ).toEqual(["s:1", "cluster:1", "cluster:2", "s:2"]);
  });

  it.each([
    [{}, { burst: 100, perSecond: 10 }],
    [
      { max_tokens: 5, fill_rate: 0.5 },
      { burst: 5, perSecond: 0.5 },
    ],
  ])("reads rate_limit_settings of %j", (rate_limit_settings, rate) => {
    expect(first(api([google("s:1")], { rate_limit_settings }))?.rate).toEqual(rate);
  });

  it.each<[string, Json, object]>([
    ["none", {}, { type: "insecure" }],
    ["local", { channel_credentials: { local_credentials: {} } }, { type: "insecure" }],
    [
      "ssl",
      { channel_credentials: { ssl_credentials: {} } },
      { type: "tls", refreshIntervalMs: 600_000 },
    ],
    [
      "ssl with files",
      {
        channel_credentials: {
          ssl_credentials: {
            root_certs: { filename: "ca" },
            cert_chain: { filename: "cert" },
            private_key: { filename: "key" },
          },
        },
      },
      {
        type: "tls",
        refreshIntervalMs: 600_000,
        caCertificateFile: "ca",
        certificateFile: "cert",
        privateKeyFile: "key",
      },
    ],
  ])("reads credentials of google_grpc: %s", (_, more, credentials) => {
    expect(first(api([google("s:1", more)]))?.credentials).toEqual(credentials);
  });

  it("sends initial_metadata", () => {
    const initial_metadata = [{ key: "X-Token", value: "100%%" }];
    expect(first(api([{ ...google("s:1"), initial_metadata }]))?.metadata).toEqual({
      "x-token": "100%",
    });
  });

  it("passes over what tunes Envoy's own client", () => {
    const tuned = {
      ...google("s:1", { channel_args: { args: {} }, per_stream_buffer_limit_bytes: 1 }),
      timeout: "1s",
      retry_policy: {},
    };
    expect(
      serversOf(
        api([tuned], {
          set_node_on_first_message_only: true,
          request_timeout: "1s",
          refresh_delay: "1s",
        }),
      ),
    ).toHaveLength(1);
  });

  it("reads the message, its JSON, YAML, and keys in either case, to the same", () => {
    const message = fromJson(ConfigSourceSchema, {
      resourceApiVersion: "V3",
      authorities: [{ name: "a" }],
      ads: {},
    });
    const read = readConfigSource(message);
    for (const other of [
      '{"ads": {}, "authorities": [{"name": "a"}]}',
      "ads: {}\nresourceApiVersion: V3\nauthorities:\n- name: a\n",
      { ads: {}, authorities: [{ name: "a" }] },
    ])
      expect(readConfigSource(other)).toEqual(read);
  });

  const service = (more: Json): Json => ({ api_config_source: api([more]) });
  const ssl = (more: Json): Json =>
    service(google("s:1", { channel_credentials: { ssl_credentials: more } }));
  const grpc = "api_config_source.grpc_services[0]";
  it.each<[object | string, string]>([
    [
      {},
      "INVALID_ARGUMENT] ConfigSource: the ConfigSource says no source; give ads, self, api_config_source or path_config_source",
    ],
    [{ path: "" }, "INVALID_ARGUMENT] ConfigSource: path is empty; give the path of a file"],
    [
      { path_config_source: { path: "" } },
      "INVALID_ARGUMENT] ConfigSource: path_config_source.path is empty; give the path of a file",
    ],
    [
      { path_config_source: { path: "/x", watched_directory: {} } },
      "INVALID_ARGUMENT] ConfigSource: path_config_source.watched_directory.path is empty; give",
    ],
    [
      { ads: {}, resource_api_version: "V2" },
      "INVALID_ARGUMENT] ConfigSource: resource_api_version is V2; there is only V3",
    ],
    [
      { self: { transport_api_version: "V2" } },
      "INVALID_ARGUMENT] ConfigSource: self.transport_api_version is V2; there is only V3",
    ],
    [{ adss: {} }, "INVALID_ARGUMENT] ConfigSource: adss is unknown"],
    [
      { ads: {}, initial_fetch_timeout: "-1s" },
      "INVALID_ARGUMENT] ConfigSource: initial_fetch_timeout is below zero",
    ],
    [
      { ads: {}, initial_fetch_timeout: "soon" },
      "INVALID_ARGUMENT] ConfigSource: initial_fetch_timeout cannot be read",
    ],
    [
      "ads: [",
      "INVALID_ARGUMENT] ConfigSource: the ConfigSource is neither YAML nor JSON at line 1 column 7",
    ],
    ["- ads", "INVALID_ARGUMENT] ConfigSource: the ConfigSource is an array; it must be an object"],
    [
      { api_config_source: {} },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.api_type is missing; give AGGREGATED_GRPC,",
    ],
    [
      { api_config_source: api([google("s")], { api_type: "REST" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.grpc_services is for gRPC; name the cluster in cluster_names",
    ],
    [
      { api_config_source: rest({ cluster_names: [] }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source has no cluster_names; give",
    ],
    [
      { api_config_source: rest({ cluster_names: ["xds", "none"] }) },
      'INVALID_ARGUMENT] ConfigSource: api_config_source.cluster_names[1] is "none", and this static cluster does not exist',
    ],
    [
      { api_config_source: api([], { api_type: "REST", cluster_names: ["xds"] }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source has no refresh_delay, which REST needs",
    ],
    [
      { api_config_source: rest({ refresh_delay: "0s" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.refresh_delay is 0; give a time above zero",
    ],
    [
      { api_config_source: rest({ request_timeout: "-1s" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.request_timeout is below zero",
    ],
    [
      { api_config_source: rest({ transport_api_version: "V2" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.transport_api_version is V2; there is only V3",
    ],
    [
      { api_config_source: rest({ config_validators: [{ name: "x" }] }) },
      "UNIMPLEMENTED] ConfigSource: api_config_source.config_validators would be left out",
    ],
    [
      { api_config_source: api([google("s")], { api_type: 4 }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.api_type is 4; give AGGREGATED_GRPC,",
    ],
    [
      { api_config_source: api([google("s")], { api_type: "GRPCS" }) },
      'INVALID_ARGUMENT] ConfigSource: api_config_source.api_type is "GRPCS", which is not a valid envoy',
    ],
    [
      { api_config_source: api([google("s")], { transport_api_version: "AUTO" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.transport_api_version is AUTO; there is only V3: write transport_api_version: V3",
    ],
    [
      { api_config_source: api([google("s")], { transport_api_version: "V2" }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.transport_api_version is V2; there is only V3",
    ],
    [
      { api_config_source: api([]) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source has no grpc_services; give one",
    ],
    [
      { api_config_source: api([google("s")], { cluster_names: ["c"] }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.cluster_names is for REST; name the cluster in grpc_services",
    ],
    [
      { api_config_source: api([google("s")], { config_validators: [{ name: "x" }] }) },
      "UNIMPLEMENTED] ConfigSource: api_config_source.config_validators would be left out",
    ],
    [
      { api_config_source: api([google("s")], { rate_limit_settings: { max_tokens: 0 } }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.rate_limit_settings.max_tokens is 0",
    ],
    [
      { api_config_source: api([google("s")], { rate_limit_settings: { fill_rate: 0 } }) },
      "INVALID_ARGUMENT] ConfigSource: api_config_source.rate_limit_settings.fill_rate is 0; give",
    ],
    [
      service({}),
      `INVALID_ARGUMENT] ConfigSource: ${grpc} has neither google_grpc nor envoy_grpc; give`,
    ],
    [
      service(google("")),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.google_grpc has no target_uri; give`,
    ],
    [
      service(google("s", { target: 1 })),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.google_grpc.target is unknown`,
    ],
    [
      service(google("s", { channel_credentials: { google_default: {} } })),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.google_grpc.channel_credentials.google_default needs Google's client; give`,
    ],
    [
      service(google("s", { call_credentials: [{ access_token: "t" }] })),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.google_grpc.call_credentials would be left out; send`,
    ],
    [
      service(google("s", { credentials_factory_name: "f" })),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.google_grpc.credentials_factory_name would be left out; give`,
    ],
    [
      ssl({ root_certs: { inline_string: "-----BEGIN" } }),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.google_grpc.channel_credentials.ssl_credentials.root_certs is not a file; give filename`,
    ],
    [
      ssl({ private_key: { filename: "key" } }),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.google_grpc.channel_credentials.ssl_credentials has a key and no certificate; give both`,
    ],
    [
      ssl({ cert_chain: { filename: "key" } }),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.google_grpc.channel_credentials.ssl_credentials has a certificate and no key; give both`,
    ],
    [
      service(envoy("")),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.envoy_grpc has no cluster_name; give`,
    ],
    [
      service(envoy("other")),
      `INVALID_ARGUMENT] ConfigSource: ${grpc}.envoy_grpc.cluster_name is "other", and this static cluster does not exist; add it`,
    ],
    [
      service(envoy("xds", { authority: "a" })),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.envoy_grpc.authority cannot be set here`,
    ],
    [
      service({
        ...google("s"),
        initial_metadata: [
          { key: "a", value: "b" },
          { key: "h", value: "%HOSTNAME%" },
        ],
      }),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.initial_metadata[1].value holds a command of Envoy`,
    ],
    [
      service({ ...google("s"), initial_metadata: [{ key: "h", raw_value: "AA==" }] }),
      `UNIMPLEMENTED] ConfigSource: ${grpc}.initial_metadata[0].raw_value cannot be sent; give value`,
    ],
  ])("says of %j what is wrong where", (config, problem) => {
    expect(problemOf(config)).toContain(`[${problem}`);
  });

  it("shows nothing of what may be secret", () => {
    expect(
      problemOf(
        service({
          ...google("s"),
          initial_metadata: [{ key: "authorization", value: { Bearer: "hush" } }],
        }),
      ),
    ).not.toContain("hush");
    expect(
      problemOf(service(google("s", { call_credentials: [{ access_token: "hush" }] }))),
    ).not.toContain("hush");
    expect(problemOf("ads: *hush")).not.toContain("hush");
  });
});

describe("servers of ConfigSources", () => {
  const idsOf = (...configs: readonly Json[]): readonly string[] =>
    configs.flatMap((config) => serversOf(config).slice(0, 1).map(serverId));
  it.each<[string, Json, Json, boolean]>([
    ["written twice", api([google("s:1")]), api([google("s:1")]), true],
    [
      "with the default written out",
      api([google("s:1")], { rate_limit_settings: {} }),
      api([google("s:1")], { rate_limit_settings: { max_tokens: 100, fill_rate: 10 } }),
      true,
    ],
    ["by a cluster and by its address", api([envoy("xds")]), api([google("cluster:1")]), true],
    [
      "with metadata in another order",
      api([
        {
          ...google("s:1"),
          initial_metadata: [
            { key: "a", value: "1" },
            { key: "b", value: "2" },
          ],
        },
      ]),
      api([
        {
          ...google("s:1"),
          initial_metadata: [
            { key: "B", value: "2" },
            { key: "a", value: "1" },
          ],
        },
      ]),
      true,
    ],
    [
      "with other metadata",
      api([{ ...google("s:1"), initial_metadata: [{ key: "a", value: "1" }] }]),
      api([google("s:1")]),
      false,
    ],
    [
      "of another kind",
      api([google("s:1")], { api_type: "DELTA_GRPC" }),
      api([google("s:1")]),
      false,
    ],
    [
      "of another variant",
      api([google("s:1")], { api_type: "AGGREGATED_GRPC" }),
      api([google("s:1")]),
      false,
    ],
    [
      "at another pace",
      api([google("s:1")], { rate_limit_settings: {} }),
      api([google("s:1")]),
      false,
    ],
  ])("have one id where their configuration is one: %s [C-AGG-1]", (_, one, other, equal) => {
    const [first, second] = idsOf(one, other);
    expect(first === second).toBe(equal);
  });

  it("hide metadata in their ids: it may hold keys", () => {
    expect(
      idsOf(api([{ ...google("s:1"), initial_metadata: [{ key: "a", value: "hush" }] }])).join(),
    ).not.toContain("hush");
  });
});

const encode = (json: Json): Uint8Array =>
  anyFromJson(
    { "@type": "type.googleapis.com/envoy.config.core.v3.ConfigSource", ...json },
    envoyRegistry(),
  ).value;

describe("configSourceReader()", () => {
  it("reads servers and authorities out of bytes, static clusters among them [C-AUTH-4]", () => {
    const { servers, authorities } = configSourceReader()(encode(from("s:1", ["a"])));
    expect([servers.map(({ uri }) => uri), authorities]).toEqual([["s:1"], ["a"]]);
    const clusters = (name: string) =>
      name === "xds"
        ? [{ uri: "c:1", credentials: { type: "insecure" as const }, features: new Set<string>() }]
        : undefined;
    const byCluster = encode({
      api_config_source: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [envoy("xds")],
      },
    });
    expect(configSourceReader({ clusters })(byCluster).servers.map(({ uri }) => uri)).toEqual([
      "c:1",
    ]);
  });

  it.each([
    ["ads", encode({ ads: {} }), "the ConfigSource says ads, and no servers of its own"],
    [
      "a file [C-NFILE-7]",
      encode({ path: "/x" }),
      '[PERMISSION_DENIED] the ConfigSource leads to the file "/x", which a payload may not; allow it with configSourceReader({ files: true })',
    ],
    ["no message", new Uint8Array([0xff]), "the bytes are not a ConfigSource"],
  ])("rejects %s", (_, bytes, message) => {
    expect(() => configSourceReader()(bytes)).toThrow(message);
  });

  it("reads a file if the program allows it [C-NFILE-7]", () => {
    const { servers } = configSourceReader({ files: true })(encode({ path: "/x" }));
    expect(servers.map(({ file }) => file)).toEqual([{ path: "/x" }]);
  });
});
