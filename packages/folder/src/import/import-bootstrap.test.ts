import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, vi } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import { checkBootstrap } from "../check-bootstrap.ts";
import { formatProblem } from "../folder-problem.ts";
import { readFolder } from "../read-folder.ts";
import { importBootstrap, mergeBootstrap } from "./import-bootstrap.ts";
import type { ImportConnection, Imported } from "./imported.ts";
import { writeImport } from "./write-import.ts";

const registry = envoyRegistry();
const connection: ImportConnection = {
  node: { id: "envoy", cluster: "default" },
  dynamicResources: {
    ads_config: {
      api_type: "DELTA_GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xdstp_server" } }],
    },
    lds_config: { ads: {}, resource_api_version: "V3" },
    cds_config: { ads: {}, resource_api_version: "V3" },
  },
  cluster: { name: "xdstp_server", load_assignment: { cluster_name: "xdstp_server" } },
};

const listener = (name: string, target: string, more = ""): string => `
  - name: ${name}
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    ${more}
    filter_chains:
    - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: ${target}`;
const cluster = (name: string, more = ""): string => `
  - name: ${name}
    load_assignment: { cluster_name: ${name} }
    ${more}`;
const tls = (secret: string): string => `transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          tls_certificate_sds_secret_configs: [{ name: ${secret} }]`;
const secret = (name: string, source = "inline_string: S3CRET"): string => `
  - name: ${name}
    generic_secret: { secret: { ${source} } }`;
const fixed = (lists: {
  readonly listeners?: string;
  readonly clusters?: string;
  readonly secrets?: string;
}): string =>
  `static_resources:\n${Object.entries(lists)
    .map(([field, items]) => `  ${field}:${items}\n`)
    .join("")}`;

async function imported(
  text: string,
  { name = "envoy.yaml", by = importBootstrap } = {},
): Promise<Imported & { readonly file: string }> {
  const { dir } = await useFolder({ [name]: text });
  const file = join(dir, name);
  const result = await by({ file, registry, connection });
  const clean = (one: Imported["problems"][number]) => ({ ...one, file: name });
  return { ...result, file, problems: result.problems.map(clean) };
}

const kept = ({ kept: all }: Imported): readonly string[] =>
  all.map(({ name, reason }) => `${name}: ${reason}`);
const paths = ({ files }: Imported): readonly string[] => files.map(({ path }) => path);

describe("importBootstrap()", () => {
  it("moves listeners, clusters and secrets into files that a folder serves, and the rest into a bootstrap that is good", async () => {
    const result = await imported(
      fixed({
        listeners: listener("in", "web"),
        clusters: cluster("web", tls("pair")),
        secrets: secret("pair"),
      }) +
        "node: { id: edge-1, cluster: edge }\nadmin: { address: { socket_address: { address: 127.0.0.1, port_value: 9901 } } }\n",
    );
    expect(result.problems).toEqual([]);
    expect(paths(result)).toEqual([
      "_opaque/listeners/in.yaml",
      "_opaque/clusters/web.yaml",
      "_opaque/secrets/pair.yaml",
    ]);
    expect(result.kept).toEqual([]);
    const { dir } = await useFolder();
    const target = {
      dir: join(dir, "new"),
      bootstrap: join(dir, "b.yaml"),
      force: false,
      registry,
    };
    expect(await writeImport(result, target)).toBeUndefined();
    const { resources, problems } = await readFolder({ dir: target.dir, registry });
    expect(problems).toEqual([]);
    expect(resources.map(({ resource }) => resource.name)).toEqual(["web", "in", "pair"]);
    expect(await checkBootstrap({ file: target.bootstrap, registry })).toEqual({
      problems: [],
      warnings: [],
    });
    const bootstrap = await readFile(target.bootstrap, "utf8");
    expect(bootstrap).toContain("port_value: 9901");
    expect(bootstrap).toContain("id: edge-1");
    expect(bootstrap).toContain("xdstp_server");
    expect(bootstrap).not.toMatch(/S3CRET|name: web|name: in\b/);
  });

  it("says of a secret that is served where it comes from", async () => {
    const { files } = await imported(
      fixed({ clusters: cluster("web", tls("pair")), secrets: secret("pair") }),
    );
    expect(files[0]?.text).toMatch(/name: pair, sds_config: \{ ads: \{\}|sds_config:\s+ads: \{\}/);
  });

  it("marks what holds secrets, also in listeners and in the rest", async () => {
    const own = `typed_extension_protocol_options: {}
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          tls_certificates: [{ certificate_chain: { filename: /c }, private_key: { environment_variable: KEY }, password: { inline_string: PASSWORD } }]`;
    const { files, bootstrap } = await imported(
      fixed({ clusters: cluster("a", own) + cluster("b"), secrets: secret("s") }),
    );
    expect(files.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ["a", true],
      ["b", false],
      ["s", true],
    ]);
    expect(bootstrap.isSecret).toBe(false);
  });

  it.each([
    [
      "stats sinks",
      `stats_sinks:\n- name: statsd\n  typed_config: { "@type": type.googleapis.com/envoy.config.metrics.v3.StatsdSink, tcp_cluster_name: web }\n`,
      "web: stats_sinks[0].typed_config.tcp_cluster_name refers to it",
    ],
    [
      "tracing",
      `tracing:\n  http:\n    name: zipkin\n    typed_config:\n      "@type": type.googleapis.com/envoy.config.trace.v3.ZipkinConfig\n      collector_cluster: web\n      collector_endpoint: /spans\n      collector_endpoint_version: HTTP_JSON\n`,
      "web: tracing.http.typed_config.collector_cluster refers to it",
    ],
    [
      "runtime from a server",
      `layered_runtime:\n  layers:\n  - name: r\n    rtds_layer:\n      name: r\n      rtds_config: { api_config_source: { api_type: GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: web } }] } }\n`,
      "web: layered_runtime.layers[0].rtds_layer.rtds_config.api_config_source.grpc_services[0].envoy_grpc.cluster_name refers to it",
    ],
    [
      "the local cluster",
      "cluster_manager: { local_cluster_name: web }\n",
      "web: cluster_manager.local_cluster_name refers to it",
    ],
    [
      "the access log of the admin page",
      `admin:\n  access_log:\n  - name: g\n    typed_config:\n      "@type": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig\n      common_config: { log_name: l, transport_api_version: V3, grpc_service: { envoy_grpc: { cluster_name: web } } }\n`,
      "web: admin.access_log[0].typed_config.common_config.grpc_service.envoy_grpc.cluster_name refers to it",
    ],
  ])("keeps the cluster of %s", async (_, rest, expected) => {
    const result = await imported(rest + fixed({ clusters: cluster("web") + cluster("other") }));
    expect(kept(result)).toEqual([expected]);
    expect(paths(result)).toEqual(["_opaque/clusters/other.yaml"]);
    expect(result.bootstrap.text).toContain("- name: web");
  });

  it("keeps the cluster of a config source in a listener that moves, and what that cluster refers to", async () => {
    const source = `type: EDS
    eds_cluster_config: { eds_config: { api_config_source: { api_type: GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: xds } }] } } }`;
    const result = await imported(
      fixed({
        clusters: `\n  - name: web\n    ${source}${cluster("xds", tls("pair"))}`,
        secrets: secret("pair") + secret("free"),
      }),
    );
    expect(kept(result)).toEqual([
      'xds: cluster "web": eds_cluster_config.eds_config.api_config_source.grpc_services[0].envoy_grpc.cluster_name refers to it',
      'pair: cluster "xds": transport_socket.typed_config.common_tls_context.tls_certificate_sds_secret_configs[0] refers to it',
    ]);
    expect(paths(result)).toEqual(["_opaque/clusters/web.yaml", "_opaque/secrets/free.yaml"]);
    expect(result.bootstrap.isSecret).toBe(true);
    expect(result.bootstrap.text).not.toContain("sds_config");
  });

  it("keeps the cluster of an access log that Envoy looks up among the static ones", async () => {
    const log = `access_log:
    - name: f
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig
        cluster: logs
        tag: t
        stat_prefix: s
        record: { a: b }`;
    const result = await imported(
      fixed({ listeners: listener("in", "web", log), clusters: cluster("web") + cluster("logs") }),
    );
    expect(kept(result)).toEqual([
      'logs: listener "in": access_log[0].typed_config.cluster refers to it',
    ]);
  });

  it("keeps what cannot be a resource of a folder, and says why", async () => {
    const result = await imported(
      fixed({
        listeners: listener("xdstp://a/envoy.config.listener.v3.Listener/x", "web"),
        clusters: cluster("web"),
        secrets:
          secret("file", "filename: certs/a") +
          secret("absolute", "filename: /certs/a") +
          secret("twice") +
          "\n  - { name: twice, validation_context: {} }",
      }),
    );
    expect(kept(result)).toEqual([
      "xdstp://a/envoy.config.listener.v3.Listener/x: its name is not an opaque one",
      expect.stringMatching(/^web: listener "xdstp:.*cluster refers to it$/),
      'file: its file "certs/a" counts from where Envoy is started; make the path absolute, or copy the file into the folder',
      "twice: another secret has its name",
      "twice: another secret has its name",
    ]);
    expect(paths(result)).toEqual(["_opaque/secrets/absolute.yaml"]);
  });

  it("keeps listeners that already come from files", async () => {
    const result = await imported(
      `dynamic_resources: { lds_config: { path_config_source: { path: /lds.yaml } } }\n${fixed({ listeners: listener("in", "web"), clusters: cluster("web") + cluster("b") })}`,
    );
    expect(kept(result)).toEqual([
      "in: Envoy takes its listeners from dynamic_resources.lds_config",
      expect.stringMatching(/^web: listener "in": /),
    ]);
    expect(paths(result)).toEqual(["_opaque/clusters/b.yaml"]);
    expect(result.bootstrap.text).toContain("/lds.yaml");
  });

  it("does not import a configuration that comes from another server", async () => {
    const { problems, files } = await imported(
      `dynamic_resources:\n  ads_config: { api_type: GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: xds } }] }\n${fixed({ clusters: cluster("xds") })}`,
    );
    expect(problems.map(formatProblem)).toEqual([
      "envoy.yaml:2:3: dynamic_resources.ads_config: Envoy takes its configuration from another server, and can have one only (remove dynamic_resources, or import what a running Envoy has: xdstp import config-dump)",
    ]);
    expect(files).toEqual([]);
  });

  it("does not replace a cluster of the user that has the name of the connection", async () => {
    const { problems } = await imported(
      `dynamic_resources: { lds_config: { path_config_source: { path: /lds.yaml } } }\n${fixed({ clusters: cluster("xdstp_server") })}`,
    );
    expect(problems.map(formatProblem)).toEqual([
      'envoy.yaml: static_resources.clusters: "xdstp_server" is the name of the cluster that leads to the server (give yours another name)',
    ]);
  });

  it("names the other command for a dump", async () => {
    const { problems } = await imported(
      '{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump"}]}',
      { name: "dump.json" },
    );
    expect(problems.map(({ hint }) => hint)).toEqual(["import it with: xdstp import config-dump"]);
  });

  it("shows what is wrong with a configuration as checkBootstrap() does", async () => {
    const { problems } = await imported(
      fixed({ listeners: listener("in", "web"), clusters: cluster("web", "lb_polcy: RANDOM") }),
    );
    expect(problems.map(formatProblem)).toEqual([
      'envoy.yaml:16:5: envoy.config.cluster.v3.Cluster: key "lb_polcy" is unknown (did you mean lb_policy?)',
    ]);
    expect((await imported("")).problems.map(formatProblem)).toEqual(["envoy.yaml: is empty"]);
    const { problems: absent } = await importBootstrap({ file: "no.yaml", registry, connection });
    expect(absent.map(formatProblem)).toEqual(["no.yaml: does not exist (ENOENT)"]);
  });

  it("gives a listener without a name one, and an absent node", async () => {
    const { notes, files, bootstrap } = await imported(
      fixed({
        listeners: [listener("listener_127.0.0.1_10001", "web"), listener("", "web")]
          .join("")
          .replace("name: \n    ", "")
          .replace("10000", "10001"),
        clusters: cluster("web"),
      }),
    );
    expect(files.map(({ name }) => name)).toEqual([
      "listener_127.0.0.1_10001",
      "listener_127.0.0.1_10000",
      "web",
    ]);
    expect(notes).toEqual([
      'A listener without a name is called "listener_127.0.0.1_10000".',
      'The node had no id, which Envoy needs to use a server: it is "envoy".',
      'The node had no cluster, which Envoy needs to use a server: it is "default".',
    ]);
    expect(bootstrap.text).toContain("id: envoy");
  });

  it("names many listeners without a name, and tries a few names for each", async () => {
    const size = 300;
    const tried = vi.spyOn(Set.prototype, "has");
    const { files } = await imported(
      fixed({
        // Envoy has any number of listeners on port 0, which means a free one.
        listeners: listener("", "web")
          .replace("name: \n    ", "")
          .replace("10000", "0")
          .repeat(size),
        clusters: cluster("web"),
      }),
    );
    const names = new Set(files.map(({ name }) => name));
    const tries = tried.mock.calls.filter(([value]) => names.has(value as string)).length;
    tried.mockRestore();
    expect(names).toContain(`listener_127.0.0.1_0_${size}`);
    expect(tries).toBeLessThan(size * 10);
  });

  it("keeps comments, and writes what only Envoy reads as every reader of YAML does", async () => {
    const { files, bootstrap } = await imported(`# Whose it is.
node: { id: a, cluster: b } # the edge
enable_dispatcher_stats: yes
static_resources:
  clusters:
  # The shop.
  - name: web # by hand
    # Patience.
    connect_timeout: { seconds: 1 }
    per_connection_buffer_limit_bytes: 010
    respect_dns_ttl: on
    lb_policy: random
    common_lb_config: &common { healthy_panic_threshold: { value: 12.5 } }
    metadata: { filter_metadata: { a: { number: 1.5, text: "yes" } } }
  - name: "on"
    common_lb_config: *common
    load_assignment: { cluster_name: x, endpoints: { lb_endpoints: [] } }
# The end.
`);
    const [web, on] = files.map(({ text }) => text);
    expect(web).toMatch(/^# The shop\.\s+name: web # by hand\n/);
    expect(web).toContain("# Patience.\nconnect_timeout: 1s");
    expect(web).toContain("per_connection_buffer_limit_bytes: 8\n");
    expect(web).toContain("respect_dns_ttl: true\n");
    expect(web).toContain("lb_policy: RANDOM\n");
    expect(web).toContain('number: "1.5", text: "yes"');
    expect(on).toContain(
      'name: "on"\ncommon_lb_config: { healthy_panic_threshold: { value: 12.5 } }',
    );
    expect(on).toContain("endpoints:");
    expect(bootstrap.text).toMatch(/^# Whose it is\.\n/);
    expect(bootstrap.text).toContain("# the edge");
    expect(bootstrap.text).toContain("enable_dispatcher_stats: true");
    expect(bootstrap.text).toContain("# The end.");
  });

  it("takes JSON, in either spelling, and writes YAML", async () => {
    const { files, bootstrap } = await imported(
      '{"staticResources": {"clusters": [{"name": "web", "connectTimeout": "2s"}]}, "node": {"id": "a", "cluster": "b"}}',
      { name: "envoy.json" },
    );
    expect(files.map(({ text }) => text)).toEqual(["name: web\nconnectTimeout: 2s\n"]);
    expect(bootstrap.text).toMatch(/^staticResources:\n {2}clusters:\n {4}- name: xdstp_server\n/);
  });

  it("names files so that the folder reads each name again, whatever it is", async () => {
    const names = [
      "a/b",
      "../up",
      ".hidden",
      "outbound|80||web.shop",
      "50%",
      "é\u0301 ü",
      "UPPER",
      "upper",
      "x.tmp",
      "with space ",
      "tls.crt",
      "C:\\x",
      "y".repeat(300),
    ];
    const result = await imported(
      JSON.stringify({
        static_resources: { clusters: names.map((name) => ({ name })) },
      }),
      { name: "e.json" },
    );
    const { dir } = await useFolder();
    const target = {
      dir: join(dir, "new"),
      bootstrap: join(dir, "b.yaml"),
      force: false,
      registry,
    };
    await writeImport(result, target);
    const { resources, problems } = await readFolder({ dir: target.dir, registry });
    expect(problems).toEqual([]);
    expect(resources.map(({ resource }) => resource.name).sort()).toEqual(names.toSorted());
    const lower = paths(result).map((path) => path.toLowerCase());
    expect(new Set(lower).size).toBe(names.length);
    expect(paths(result).every((path) => path.split("/").length === 3)).toBe(true);
  });
});

describe("mergeBootstrap()", () => {
  const text = `# mine\n${fixed({ listeners: listener("in", "web"), clusters: cluster("web") })}`;

  it("adds the connection and leaves all else", async () => {
    const { files, bootstrap, problems } = await imported(text, { by: mergeBootstrap });
    expect({ files, problems }).toEqual({ files: [], problems: [] });
    expect(bootstrap.text).toMatch(/^# mine\n/);
    expect(bootstrap.text).toContain("- name: in");
    expect(bootstrap.text).toContain("- name: xdstp_server");
    expect(bootstrap.text).toContain("ads_config:");
  });

  it("replaces what it added before", async () => {
    const once = await imported(text, { by: mergeBootstrap });
    const again = await imported(once.bootstrap.text, { by: mergeBootstrap });
    expect(again.bootstrap.text).toBe(once.bootstrap.text);
  });
});
