import type { JsonObject } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { formatProblem } from "../../folder-problem.ts";
import { importConfigDump } from "./import-config-dump.ts";
import type { ImportConnection, Imported } from "../imported.ts";

const registry = envoyRegistry();
const connection: ImportConnection = {
  node: { id: "envoy", cluster: "default" },
  dynamicResources: { ads_config: { api_type: "DELTA_GRPC" } },
  cluster: { name: "xdstp_server" },
};
const types = {
  cluster: "envoy.config.cluster.v3.Cluster",
  endpoints: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  listener: "envoy.config.listener.v3.Listener",
  routes: "envoy.config.route.v3.RouteConfiguration",
  scoped: "envoy.config.route.v3.ScopedRouteConfiguration",
  secret: "envoy.extensions.transport_sockets.tls.v3.Secret",
  manager: "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  tls: "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
} as const;
const any = (type: keyof typeof types, json: JsonObject): JsonObject => ({
  "@type": `type.googleapis.com/${types[type]}`,
  ...json,
});
const part = (name: string, json: JsonObject): JsonObject => ({
  "@type": `type.googleapis.com/envoy.admin.v3.${name}`,
  ...json,
});
const oldAds: JsonObject = { ads: {}, resource_api_version: "V3" };
const oldGrpc: JsonObject = {
  api_config_source: {
    api_type: "GRPC",
    grpc_services: [{ envoy_grpc: { cluster_name: "agent" } }],
  },
};

const bootstrapPart = (json: JsonObject = {}): JsonObject =>
  part("BootstrapConfigDump", { bootstrap: { node: { id: "a", cluster: "b" }, ...json } });

const clusters = (...all: readonly JsonObject[]): JsonObject =>
  part("ClustersConfigDump", {
    dynamic_active_clusters: all.map((one) => ({ cluster: any("cluster", one) })),
  });
const secrets = (...all: readonly JsonObject[]): JsonObject =>
  part("SecretsConfigDump", {
    dynamic_active_secrets: all.map((one) => ({
      name: one.name ?? "",
      secret: any("secret", one),
    })),
  });
const tls = (secret: JsonObject): JsonObject => ({
  name: "tls",
  typed_config: any("tls", {
    common_tls_context: { validation_context_sds_secret_config: secret },
  }),
});

function imported(...configs: readonly JsonObject[]): Imported {
  return importConfigDump({
    text: JSON.stringify({ configs }),
    file: "dump",
    registry,
    connection,
  });
}

const left = ({ missing }: Imported): readonly string[] =>
  missing.map(({ name, reason }) => `${name}: ${reason}`);
const textOf = ({ files }: Imported, path: string): string =>
  files.find((one) => one.path === `_opaque/${path}.yaml`)?.text ?? "";

describe("importConfigDump()", () => {
  it("moves what came from a server next to what was static, with its routes and endpoints, from wherever they came", () => {
    const result = imported(
      bootstrapPart({
        dynamic_resources: {
          ads_config: {
            api_type: "GRPC",
            grpc_services: [{ envoy_grpc: { cluster_name: "old-xds" } }],
          },
        },
        static_resources: { clusters: [{ name: "old-xds" }, { name: "fixed" }, { name: "agent" }] },
      }),
      clusters({
        name: "web",
        type: "EDS",
        eds_cluster_config: {
          eds_config: { ...oldGrpc, initial_fetch_timeout: "3s" },
          service_name: "web-service",
        },
      }),
      part("ListenersConfigDump", {
        dynamic_listeners: [
          {
            name: "in",
            active_state: {
              listener: any("listener", {
                name: "in",
                filter_chains: [
                  {
                    filters: [
                      {
                        name: "http",
                        typed_config: any("manager", {
                          stat_prefix: "in",
                          rds: { config_source: oldGrpc, route_config_name: "r" },
                        }),
                      },
                    ],
                  },
                ],
              }),
            },
          },
        ],
      }),
      part("RoutesConfigDump", {
        dynamic_route_configs: [{ route_config: any("routes", { name: "r" }) }],
      }),
      part("EndpointsConfigDump", {
        static_endpoint_configs: [{ endpoint_config: any("endpoints", { cluster_name: "fixed" }) }],
        dynamic_endpoint_configs: [
          { endpoint_config: any("endpoints", { cluster_name: "web-service" }) },
        ],
      }),
    );
    expect(result.problems).toEqual([]);
    expect(result.files.map(({ path }) => path)).toEqual([
      "_opaque/clusters/fixed.yaml",
      "_opaque/clusters/agent.yaml",
      "_opaque/clusters/web.yaml",
      "_opaque/listeners/in.yaml",
      "_opaque/routes/r.yaml",
      "_opaque/endpoints/web-service.yaml",
    ]);
    expect(result.kept).toEqual([]);
    expect(left(result)).toEqual([]);
    expect(result.notes).toEqual([
      'Left out is the static cluster "old-xds", which only led to the server before.',
    ]);
    const ads = /ads: \{\}/;
    expect(textOf(result, "clusters/web")).toMatch(ads);
    expect(textOf(result, "clusters/web")).toContain("initial_fetch_timeout: 3s");
    expect(textOf(result, "clusters/web")).not.toContain("api_config_source");
    expect(textOf(result, "listeners/in")).toMatch(ads);
    expect(result.bootstrap.text).not.toContain("old-xds");
  });

  it("leaves out what Envoy adds to endpoints, and the health that its own checks found", () => {
    const assignment = (name: string): JsonObject => ({
      endpoint_config: any("endpoints", {
        cluster_name: name,
        endpoints: [
          {
            locality: {},
            load_balancing_weight: 0,
            lb_endpoints: ["HEALTHY", "UNHEALTHY", "DRAINING"].map((health) => ({
              endpoint: { hostname: health, health_check_config: {} },
              metadata: {},
              health_status: health,
            })),
          },
        ],
      }),
    });
    const eds = { type: "EDS", eds_cluster_config: { eds_config: oldAds } };
    const result = imported(
      bootstrapPart(),
      clusters(
        { name: "plain", ...eds },
        {
          name: "checked",
          ...eds,
          health_checks: [
            {
              timeout: "1s",
              interval: "1s",
              unhealthy_threshold: 1,
              healthy_threshold: 1,
              tcp_health_check: {},
            },
          ],
        },
      ),
      part("EndpointsConfigDump", {
        dynamic_endpoint_configs: [assignment("plain"), assignment("checked")],
      }),
    );
    const statuses = (name: string): readonly string[] =>
      textOf(result, `endpoints/${name}`).match(/(?<=health_status: )\w+/g) ?? [];
    expect(statuses("plain")).toEqual(["UNHEALTHY", "DRAINING"]);
    expect(statuses("checked")).toEqual(["DRAINING"]);
    expect(textOf(result, "endpoints/plain")).not.toMatch(/weight|locality|metadata|config/);
  });

  it("moves scoped routes", () => {
    const result = imported(
      bootstrapPart(),
      part("ScopedRoutesConfigDump", {
        dynamic_scoped_route_configs: [
          {
            name: "s",
            scoped_route_configs: [
              any("scoped", { name: "one", route_configuration_name: "r" }),
              any("scoped", { name: "two", route_configuration_name: "r" }),
            ],
          },
        ],
      }),
    );
    expect(result.files.map(({ path }) => path)).toEqual([
      "_opaque/scoped-routes/one.yaml",
      "_opaque/scoped-routes/two.yaml",
    ]);
  });

  it("leaves out what is redacted, in a secret, a listener and a static resource, and says so", () => {
    const reason =
      "the dump does not show its private keys and passwords; add a file that has them";
    const result = imported(
      bootstrapPart({
        static_resources: {
          secrets: [{ name: "fixed", generic_secret: { secret: { inline_string: "[redacted]" } } }],
        },
      }),
      clusters(
        { name: "web", transport_socket: tls({ name: "fixed" }) },
        { name: "other", transport_socket: tls({ name: "pair", sds_config: oldAds }) },
      ),
      secrets(
        { name: "pair", tls_certificate: { private_key: { inline_bytes: "W3JlZGFjdGVkXQ==" } } },
        { name: "roots", validation_context: { trusted_ca: { inline_string: "ca" } } },
      ),
    );
    expect(left(result)).toEqual([`pair: ${reason}`, `fixed: ${reason}`]);
    expect(result.files.map(({ name }) => name)).toEqual(["web", "other", "roots"]);
    expect(result.bootstrap.text).not.toContain("redacted");
    expect(textOf(result, "clusters/web")).toContain("ads: {}");
  });

  it("leaves a secret with a service of its own, whose cluster stays", () => {
    const result = imported(
      bootstrapPart({ static_resources: { clusters: [{ name: "agent" }] } }),
      clusters({ name: "web", transport_socket: tls({ name: "roots", sds_config: oldGrpc }) }),
      secrets({ name: "roots", validation_context: { trusted_ca: { inline_string: "ca" } } }),
    );
    expect(result.files.map(({ name }) => name)).toEqual(["web"]);
    expect(result.kept.map(({ name }) => name)).toEqual(["agent"]);
    expect(textOf(result, "clusters/web")).toContain("api_config_source");
  });

  it("says what was warming, what has an xdstp name and what the dump does not have", () => {
    const result = imported(
      bootstrapPart(),
      clusters(
        { name: "web", type: "EDS", eds_cluster_config: { eds_config: oldAds } },
        { name: "xdstp://a/envoy.config.cluster.v3.Cluster/x" },
      ),
      part("ClustersConfigDump", {
        dynamic_warming_clusters: [{ cluster: any("cluster", { name: "late" }) }],
      }),
    );
    expect(left(result)).toEqual([
      "xdstp://a/envoy.config.cluster.v3.Cluster/x: its name is not an opaque one",
      "late: it is warming: Envoy still waits for what it refers to",
      "web: the dump has no endpoints of it; take one with /config_dump?include_eds",
    ]);
  });

  it("rejects two resources of one name that differ, and takes equal ones as one", () => {
    const ca = (text: string): JsonObject => ({
      name: "s",
      validation_context: { trusted_ca: { inline_string: text } },
    });
    const web = clusters({ name: "web", transport_socket: tls({ name: "s", sds_config: oldAds }) });
    expect(imported(bootstrapPart(), web, secrets(ca("a"), ca("a"))).files).toHaveLength(2);
    const { problems } = imported(bootstrapPart(), web, secrets(ca("a"), ca("b")));
    expect(problems.map(formatProblem)).toEqual([
      'dump: has two secrets "s" that differ, from different sources (give them different names where they are referred to: "web": transport_socket.typed_config.common_tls_context.validation_context_sds_secret_config)',
    ]);
  });

  it("keeps what the bootstrap needs, and says which redacted fields to fill in", () => {
    const sink: JsonObject = {
      name: "s",
      typed_config: {
        "@type": "type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig",
        transport_api_version: "V3",
        grpc_service: {
          envoy_grpc: { cluster_name: "stats" },
          initial_metadata: [{ key: "token", value: "[redacted]" }],
        },
      },
    };
    const key = { private_key: { inline_string: "[redacted]" } };
    const socket = {
      name: "tls",
      typed_config: any("tls", { common_tls_context: { tls_certificates: [key] } }),
    };
    const result = imported(
      bootstrapPart({
        stats_sinks: [sink],
        static_resources: { clusters: [{ name: "stats", transport_socket: socket }] },
      }),
    );
    expect(result.kept.map(({ name }) => name)).toEqual(["stats"]);
    expect(left(result)).toEqual([]);
    expect(result.notes).toEqual(
      [
        "stats_sinks[0].typed_config.grpc_service.initial_metadata[0].value",
        'cluster "stats": transport_socket.typed_config.common_tls_context.tls_certificates[0].private_key.inline_string',
      ].map(
        (field) =>
          `Fill in before Envoy starts with the bootstrap, since the dump does not show it: ${field}`,
      ),
    );
  });

  it("says which runtime layers came from the server before", () => {
    const layer = { name: "layer", rtds_layer: { name: "flags", rtds_config: oldAds } };
    const result = imported(bootstrapPart({ layered_runtime: { layers: [layer] } }));
    expect(left(result)).toEqual(["flags: the dump does not have it; add a file for it"]);
  });

  it("keeps a static secret whose name a served one has", () => {
    const ca = { name: "s", validation_context: { trusted_ca: { inline_string: "ca" } } };
    const result = imported(
      bootstrapPart({ static_resources: { secrets: [ca] } }),
      clusters({ name: "web", transport_socket: tls({ name: "s" }) }),
      secrets(ca),
    );
    expect(result.kept.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      "s: a secret that Envoy gets from a server has its name, and is served; rename one of them",
    ]);
    expect(textOf(result, "clusters/web")).not.toContain("ads:");
  });

  it("leaves out a resource whose name is that of a wildcard", () => {
    const result = imported(bootstrapPart(), clusters({ name: "*" }, { name: "web" }));
    expect(left(result)).toEqual([
      '*: its name is "*", which subscribes to all; give it another one',
    ]);
    expect(result.files.map(({ name }) => name)).toEqual(["web"]);
  });

  it("reads a dump that begins with a byte order mark", () => {
    const text = `\uFEFF${JSON.stringify({ configs: [bootstrapPart()] })}`;
    expect(importConfigDump({ text, file: "dump", registry, connection }).problems).toEqual([]);
  });

  it("leaves out what an Envoy reports in its node", () => {
    const node = { id: "a", user_agent_name: "envoy", extensions: [{ name: "x" }] };
    expect(imported(bootstrapPart({ node })).bootstrap.text).not.toMatch(/user_agent|extensions/);
  });

  it.each([
    ["", "dump: is empty"],
    ["{", "dump:1:2: is not valid JSON"],
    ["[]", "dump: is not a dump: it has no list configs"],
    ['{"configs": []}', "dump: has no bootstrap"],
    [
      JSON.stringify({ configs: [bootstrapPart(), clusters({ name: "a", lb_polcy: 1 })] }),
      'key "lb_polcy" is unknown (did you mean lb_policy?)',
    ],
    [
      JSON.stringify({
        configs: [bootstrapPart(), part("ListenersConfigDump", { dynamic_listeners: {} })],
      }),
      "dump: is not a dump: configs[1].dynamic_listeners is not a list",
    ],
    ["[".repeat(200), "is nested more than 100 levels deep"],
  ])("says why %j is not a dump", (text, expected) => {
    const { problems, files } = importConfigDump({ text, file: "dump", registry, connection });
    expect(problems.map(formatProblem).join("\n")).toContain(expected);
    expect(files).toEqual([]);
  });
});
