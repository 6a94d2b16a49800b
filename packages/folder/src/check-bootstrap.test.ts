import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClustersConfigDump_StaticClusterSchema } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { asEnvoyReads } from "./as-envoy-reads.ts";
import { checkBootstrap } from "./check-bootstrap.ts";
import { formatProblem } from "./folder-problem.ts";

/** The node of a bootstrap. Without it, Envoy cannot subscribe to anything. */
const node = "node: { id: a, cluster: b }\n";

const bootstrap = (target: string, more = ""): string => `admin:
  address: { socket_address: { address: 127.0.0.1, port_value: 0 } }
static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: ${target}
  clusters:
  - name: web
    load_assignment: { cluster_name: web }
${more}`;

async function check(text: string, name = "envoy.yaml") {
  const { dir } = await useFolder({ [name]: text });
  const { problems, warnings } = await checkBootstrap({
    file: join(dir, name),
    registry: envoyRegistry(),
  });
  return [
    ...problems.map((problem) => `error: ${formatProblem(problem)}`),
    ...warnings.map((problem) => `warning: ${formatProblem(problem)}`),
  ].map((line) => line.replace(join(dir, "/"), ""));
}

describe("checkBootstrap()", () => {
  it("finds nothing wrong with a good configuration, in YAML and JSON", async () => {
    expect(await check(bootstrap("web"))).toEqual([]);
    expect(await check('{"node": {"id": "a", "cluster": "b"}}', "envoy.json")).toEqual([]);
  });

  it("checks the constraints of an extension that is written as a Struct", async () => {
    const options = (name: string) => `    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/xds.type.v3.TypedStruct
        type_url: type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        value: { sni: ${name} }
`;
    expect(await check(bootstrap("web", options("a.example")))).toEqual([]);
    expect(await check(bootstrap("web", options("a".repeat(256))))).toEqual([
      "error: envoy.yaml:22:18: static_resources.clusters[0].transport_socket.typed_config.value.sni must have at most 255 bytes [string.max_bytes]",
    ]);
  });

  it("takes the forms that Envoy reads next to those of protobuf's JSON", async () => {
    const forms = `    connect_timeout: { seconds: 1, nanos: 500000000 }
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: { http2_protocol_options: {} }
        http_filters: { name: codec, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec } }
`;
    expect(await check(bootstrap("web", forms))).toEqual([]);
    expect(await check(bootstrap("web", "    connect_timeout: { seconds: -1 }\n"))).toEqual([
      "error: envoy.yaml:17:5: static_resources.clusters[0].connect_timeout must be more than 0s [duration.gt]",
    ]);
    expect(await check(bootstrap("web", "    connect_timeout: { minutes: 1 }\n"))).toEqual([
      expect.stringContaining("is not a valid google.protobuf.Duration"),
    ]);
  });

  it.each([
    ["names of enums in any case, and their numbers", "type: strict_dns, lb_policy: '2'"],
    [
      "booleans",
      "close_connections_on_host_health_failure: 'true', ignore_health_on_host_removal: yes, track_timeout_budgets: Off",
    ],
    [
      "wrappers",
      "per_connection_buffer_limit_bytes: { value: 3000 }, circuit_breakers: { thresholds: [{ max_requests: { value: 0x10 } }] }",
    ],
    [
      "octal integers and whole fractions",
      "circuit_breakers: { thresholds: [{ max_requests: 0600 }] }, per_connection_buffer_limit_bytes: 1.0",
    ],
    [
      "numbers where a text is expected",
      "alt_stat_name: 1.10, load_assignment: { cluster_name: 3000000000 }",
    ],
    [
      "large integers in a Struct",
      "metadata: { filter_metadata: { a: { big: 12345678901234567890, small: [1, null] } } }",
    ],
    ["lists within lists, and null", "health_checks: [[], [[]]], dns_resolvers: null"],
  ])("reads as Envoy does: %s", async (_, fields) => {
    expect(await check(bootstrap("web", `  - { name: more, ${fields} }\n`))).toEqual([]);
  });

  it("reads numbers as Envoy does", async () => {
    expect(await check(bootstrap("web", "    connect_timeout: 08\n"))).toEqual([
      expect.stringContaining('"08" is not a valid google.protobuf.Duration'),
    ]);
    expect(await check("node: { id: on }\n")).toEqual([
      "error: envoy.yaml:1:9: node.id: expected string, got true (put it in quotes; without them Envoy reads y, yes, on and true as true)",
    ]);
    expect(await check("node: { id: n }\n")).toEqual([
      "error: envoy.yaml:1:9: node.id: expected string, got false (put it in quotes; without them Envoy reads n, no, off and false as false)",
    ]);
  });

  it("takes Timestamps as objects, and what anchors below !ignore hold", async () => {
    expect(
      await check(`!ignore anchors:
  - &node { id: a, cluster: b }
node: *node
bootstrap_extensions: []
`),
    ).toEqual([]);
    const schema = ClustersConfigDump_StaticClusterSchema;
    const read = asEnvoyReads(
      { last_updated: { seconds: 1764000000, nanos: 5 } },
      schema,
      envoyRegistry(),
    );
    expect(read).toEqual({ last_updated: "2025-11-24T16:00:00.000000005Z" });
  });

  it("warns of what Envoy passes over: the first of two equal keys, and later documents", async () => {
    expect(await check('{"node": {"id": "a", "id": "b"}}', "envoy.json")).toEqual([
      "warning: envoy.json:1:22: id occurs again; Envoy reads the last one",
    ]);
    expect(
      await check('{"node": {"metadata": {"a": 12345678901234567890}}}', "envoy.json"),
    ).toEqual([]);
    expect(await check("{node: {}}", "envoy.json")).toEqual([
      expect.stringContaining("is not valid JSON"),
    ]);
    expect(await check("node: { id: a }\nnode: { id: b }\n---\nfoo: bar\n")).toEqual([
      "warning: envoy.yaml:2:1: node occurs again; Envoy reads the last one",
      expect.stringMatching(
        /^warning: envoy\.yaml:\d:1: is a second document; Envoy reads the first one only$/,
      ),
    ]);
  });

  it("reads no aliases within their own anchors, and no deep nesting", async () => {
    expect(await check("[".repeat(5000))).toEqual([expect.stringMatching(/^error: .*nest/)]);
    expect(await check("a: &a [*a]\n")).toEqual([
      "error: envoy.yaml: has an alias (*name) within its own anchor",
    ]);
  });

  it.each([
    ["syntax", "admin: [", "error: envoy.yaml:1:9: is not valid YAML: "],
    [
      "a field that does not exist",
      bootstrap("web", "adminn: {}\n"),
      'error: envoy.yaml:17:1: envoy.config.bootstrap.v3.Bootstrap: key "adminn" is unknown (did you mean admin?)',
    ],
    [
      "a constraint",
      bootstrap("web", "    connect_timeout: -1s\n"),
      "error: envoy.yaml:17:5: static_resources.clusters[0].connect_timeout must be more than 0s [duration.gt]",
    ],
    [
      "a duration with another unit than seconds",
      bootstrap("web", "    connect_timeout: 5sec\n"),
      'error: envoy.yaml:17:5: static_resources.clusters[0].connect_timeout: "5sec" is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "the TLS of a listener in a cluster, by its type and not by a field that it lacks",
      bootstrap(
        "web",
        `    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
        sni: a.example
`,
      ),
      "error: envoy.yaml:20:9: static_resources.clusters[0].transport_socket.typed_config.@type: envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext is not a type for transport_socket",
    ],
    [
      "a quote that is not closed, where it opens",
      'node:\n  id: "a\n  cluster: b\nadmin: {}\n',
      'error: envoy.yaml:2:7: is not valid YAML: Missing closing "quote',
    ],
    ["no content", "# only a comment\n", "error: envoy.yaml: is empty"],
  ])("finds %s", async (_, text, line) => {
    const [first = "", ...more] = await check(text);
    expect(first.startsWith(line), first).toBe(true);
    expect(more).toEqual([]);
  });

  it("warns of a cluster that it does not have, unless clusters come from a server too", async () => {
    expect(await check(bootstrap("wbe"))).toEqual([
      'warning: envoy.yaml:13:20: static_resources.listeners[0].filter_chains[0].filters[0].typed_config.cluster: refers to clusters "wbe", which the bootstrap does not have',
    ]);
    const dynamic = `${node}dynamic_resources: { cds_config: { ads: {} } }\n`;
    expect(await check(bootstrap("wbe", dynamic))).toEqual([]);
  });

  it("finds no fault where clusters come by a locator", async () => {
    const locator = `dynamic_resources: { cds_resources_locator: "xdstp://a/envoy.config.cluster.v3.Cluster/*" }\n`;
    expect(await check(bootstrap("wbe", locator))).toEqual([]);
  });

  it("finds a static secret that it does not have, and none that comes from a server", async () => {
    const socket = (config: string): string => `    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          tls_certificate_sds_secret_configs: [${config}]
`;
    expect(
      await check(bootstrap("web", `${socket("{ name: cert, sds_config: { ads: {} } }")}${node}`)),
    ).toEqual([]);
    expect(
      await check(bootstrap("web", `${socket("{ name: cert }")}  secrets: [{ name: cert }]\n`)),
    ).toEqual([]);
    expect(await check(bootstrap("web", socket("{ name: cert }")))).toEqual([
      'error: envoy.yaml:22:50: static_resources.clusters[0].transport_socket.typed_config.common_tls_context.tls_certificate_sds_secret_configs[0].name: refers to secrets "cert", which the bootstrap does not have (a secret without sds_config has to be in static_resources.secrets)',
    ]);
  });

  it("finds the cluster of a config source that is not static, whatever comes from a server", async () => {
    const api = (cluster: string): string =>
      `{ api_type: GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: ${cluster} } }] }`;
    const dynamic = (cluster: string): string => `${node}dynamic_resources:
  cds_config: { ads: {} }
  ads_config: ${api("web")}
  lds_config:
    api_config_source: ${api(cluster)}
`;
    expect(await check(bootstrap("web", dynamic("web")))).toEqual([]);
    expect(await check(bootstrap("web", dynamic("wbe")))).toEqual([
      'error: envoy.yaml:22:101: dynamic_resources.lds_config.api_config_source.grpc_services[0].envoy_grpc.cluster_name: refers to clusters "wbe", which the bootstrap does not have (the cluster of a config source has to be in static_resources.clusters)',
    ]);
    expect(await check(bootstrap("web", `hds_config: ${api("wbe")}\n`))).toEqual([
      expect.stringMatching(/^warning: .* hds_config\.grpc_services\[0\].*"wbe"/),
    ]);
    const rest =
      "{ api_type: REST, transport_api_version: V3, refresh_delay: 1s, cluster_names: [wbe] }";
    expect(
      await check(
        bootstrap(
          "web",
          `${node}dynamic_resources: { lds_config: { api_config_source: ${rest} } }\n`,
        ),
      ),
    ).toEqual([expect.stringMatching(/^error: .*cluster_names\[0\]: refers to clusters "wbe"/)]);
  });

  it("finds clusters of Thrift that are not static, unless they are not validated", async () => {
    const thrift = (more: string): string => `static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: thrift
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy
          stat_prefix: thrift
          route_config:
            ${more}
            routes:
            - match: { method_name: "" }
              route: { cluster: wbe }
`;
    expect(await check(thrift("validate_clusters: false"))).toEqual([
      expect.stringMatching(/^warning: .*"wbe"/),
    ]);
    expect(await check(thrift("name: r"))).toEqual([
      'error: envoy.yaml:15:24: ...listeners[0].filter_chains[0].filters[0].typed_config.route_config.routes[0].route.cluster: refers to clusters "wbe", which the bootstrap does not have (add it to static_resources.clusters, or set validate_clusters to false)',
    ]);
  });

  it("finds clusters that Envoy itself uses and that are not static", async () => {
    const problem = (field: string) => [
      `error: envoy.yaml:${field}: refers to clusters "wbe", which the bootstrap does not have (a cluster that Envoy itself uses has to be in static_resources.clusters)`,
    ];
    const local = (name: string) => `cluster_manager: { local_cluster_name: ${name} }\n`;
    expect(await check(bootstrap("web", local("web")))).toEqual([]);
    expect(await check(bootstrap("web", local("wbe")))).toEqual(
      problem("17:20: cluster_manager.local_cluster_name"),
    );
    const sink = `node: { id: a, cluster: b }
stats_sinks:
- name: sink
  typed_config:
    "@type": type.googleapis.com/envoy.config.metrics.v3.StatsdSink
    tcp_cluster_name: wbe
`;
    expect(await check(bootstrap("web", sink))).toEqual(
      problem("22:5: stats_sinks[0].typed_config.tcp_cluster_name"),
    );
    const tracer = (type: string) =>
      `{ name: tracer, typed_config: { "@type": type.googleapis.com/envoy.config.trace.v3.${type}, collector_cluster: wbe, SETTING } }`;
    const datadog = tracer("DatadogConfig").replace("SETTING", "service_name: a");
    const zipkin = tracer("ZipkinConfig").replace(
      "SETTING",
      "collector_endpoint: /, collector_endpoint_version: HTTP_JSON",
    );
    for (const one of [datadog, zipkin])
      expect(
        await check(`static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: http
          route_config: { name: r }
          tracing: { provider: ${one} }
`),
      ).toEqual([
        expect.stringMatching(/^error: envoy\.yaml:12:\d+: .*collector_cluster: .*"wbe"/),
      ]);
    // Envoy creates the tracer of a bootstrap later, so this cluster is not required.
    expect(
      (await check(bootstrap("web", `tracing: { http: ${datadog} }\n`))).filter((line) =>
        line.includes("collector_cluster"),
      ),
    ).toEqual([]);
  });

  it("finds files of sources that are not there, except that of listeners", async () => {
    const source = (field: string, path: string) =>
      `${node}dynamic_resources: { ${field}: { path_config_source: { path: ${path} } } }\n`;
    expect(await check(bootstrap("web", source("cds_config", "none.yaml")))).toEqual([
      "error: envoy.yaml:18:58: dynamic_resources.cds_config.path_config_source.path: is not a file that can be read (Envoy reads it when it starts, relative to its working directory)",
    ]);
    expect(await check(bootstrap("web", source("cds_config", "envoy.yaml")))).toEqual([]);
    expect(await check(bootstrap("web", source("lds_config", "none.yaml")))).toEqual([]);
  });

  it("warns of a listener at the address of the admin page", async () => {
    const text = bootstrap("web").replaceAll(/port_value: \d+/g, "port_value: 9901");
    expect((await check(text)).filter((line) => line.includes("admin"))).toEqual([
      expect.stringMatching(
        /^warning: envoy\.yaml:\d+:\d+: static_resources\.listeners\[0\]\.address\.socket_address\.port_value: is the address of the admin page$/,
      ),
    ]);
  });

  it("finds sources without a node, and none in what starts with one", async () => {
    const dynamic = "dynamic_resources: { lds_config: { ads: {} } }\n";
    const problem = (missing: string, at = "1:1") => [
      `error: envoy.yaml:${at}: node: has ${missing}, which dynamic_resources.lds_config needs (set node.id and node.cluster, or start Envoy with --service-node and --service-cluster)`,
    ];
    expect(await check(bootstrap("web", dynamic))).toEqual(problem("no id and no cluster"));
    expect(await check(bootstrap("web", `node: { id: a }\n${dynamic}`))).toEqual(
      problem("no cluster", "17:1"),
    );
    expect(await check(bootstrap("web", `${node}${dynamic}`))).toEqual([]);
    expect(await check(bootstrap("web"))).toEqual([]);
  });

  it("finds two static secrets of one kind and name", async () => {
    const secrets = (kind: string) =>
      `  secrets: [{ name: a, generic_secret: {} }, { name: a, ${kind}: {} }]\n`;
    expect(await check(bootstrap("web", secrets("validation_context")))).toEqual([]);
    expect(await check(bootstrap("web", secrets("generic_secret")))).toEqual([
      'error: envoy.yaml:17:48: static_resources.secrets[1].name: "a" is the name of an earlier secret of the same kind',
    ]);
  });

  it("finds two static clusters of one name", async () => {
    expect(await check(bootstrap("web", "  - { name: web }\n"))).toEqual([
      'error: envoy.yaml:17:7: static_resources.clusters[1].name: "web" is the name of an earlier cluster',
    ]);
  });

  it("finds clusters of static routes that are not static, unless they are not validated", async () => {
    const routes = (validate: string): string => `static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: http
          route_config:
            ${validate}
            virtual_hosts:
            - name: v
              domains: ["*"]
              routes:
              - match: { prefix: / }
                route: { cluster: wbe }
${node}dynamic_resources: { cds_config: { ads: {} } }
`;
    expect(await check(routes("validate_clusters: false"))).toEqual([]);
    expect(await check(routes("name: r"))).toEqual([
      expect.stringMatching(
        /^error: envoy\.yaml:18:26: .*route\.cluster: refers to clusters "wbe", which the bootstrap does not have \(add it to static_resources\.clusters, or set validate_clusters to false\)$/,
      ),
    ]);
  });

  it("does not take its own keys in a wrong place as a sign of a bootstrap", async () => {
    expect(await check("node: { static_resources: {} }\n")).toEqual([
      'error: envoy.yaml:1:9: envoy.config.core.v3.Node: key "static_resources" is unknown',
    ]);
  });

  it("reads an extension in any case, and no file above 64 MiB", async () => {
    expect(await check("node: { id: a }\n", "envoy.YAML")).toEqual([]);
    const { dir } = await useFolder({ "envoy.yaml": "" });
    const file = join(dir, "envoy.yaml");
    await truncate(file, 64 * 1024 * 1024 + 1);
    const { problems } = await checkBootstrap({ file, registry: envoyRegistry() });
    expect(problems).toEqual([
      { file, code: "unreadable-file", message: "is larger than 64 MiB; split it" },
    ]);
  });

  it("gives the problem of a file that cannot be read", async () => {
    expect(await check("", "envoy.txt")).toEqual([
      "error: envoy.txt: is not read (the extensions that are read are .yaml .yml .json .txtpb .pb_text .pb)",
    ]);
    const { problems } = await checkBootstrap({
      file: "/no/such.yaml",
      registry: envoyRegistry(),
    });
    expect(problems).toMatchObject([{ file: "/no/such.yaml" }]);
  });
});

describe("checkBootstrap of large and hostile files", () => {
  // Few routes with long paths: what counts is the size of the text.
  const path = "x".repeat(700);
  const routes = (count: number): string =>
    Array.from(
      { length: count },
      (_, index) =>
        `              - { match: { path: /${path}${index} }, route: { cluster: ${index === count - 1 ? "missing" : "web"} } }\n`,
    ).join("");

  it("has the line of a problem in a file of more than 2 MB", async () => {
    const head = `static_resources:
  clusters: [{ name: web, type: STATIC }]
  listeners:
  - name: in
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          http_filters: [{ name: router, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router } }]
          route_config:
            virtual_hosts:
            - name: a
              domains: ["*"]
              routes:
`;
    const count = 3_000;
    const text = `${head}${routes(count)}`;
    expect(text.length).toBeGreaterThan(2_000_000);
    const [line = "", ...others] = await check(text);
    expect(line).toMatch(new RegExp(`^error: envoy.yaml:${head.split("\n").length - 1 + count}:`));
    expect(others).toEqual([]);
  }, 60_000);

  it("has the line of what aliases make enormous", async () => {
    const names = "bcdefghi".split("");
    const items = names.map(
      (name, at) =>
        `  - ${name}: &${name} [${Array(10)
          .fill(`*${"abcdefgh"[at] ?? ""}`)
          .join(",")}]\n`,
    );
    const lines = await check(
      `static_resources:\n  clusters:\n  - a: &a [x,x,x,x,x,x,x,x,x,x]\n${items.join("")}`,
    );
    expect(lines).toEqual([
      "error: envoy.yaml:7:5: becomes enormous once its aliases are resolved (write fewer aliases (*name))",
    ]);
  });

  it("has the line of what is nested thousands of levels deep", async () => {
    const [line] = await check(
      `node: { id: a }\n\nadmin: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`,
    );
    expect(line).toMatch(/^error: envoy\.yaml:3:\d+: is nested more than 100 levels deep/);
  });
});
