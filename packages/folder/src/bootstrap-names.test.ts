import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { createBootstrapReader } from "./bootstrap-names.ts";

const read = createBootstrapReader(envoyRegistry());
const text = `static_resources:
  secrets: [{ name: cert }]
  listeners:
  - name: in
    filter_chains:
    - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: web
          access_log:
          - name: grpc
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig
              common_config: { log_name: a, grpc_service: { envoy_grpc: { cluster_name: logs } } }
  clusters:
  - name: web
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context: { tls_certificate_sds_secret_configs: [{ name: cert }] }
  - name: logs
`;
const sink = `stats_sinks:
- name: sink
  typed_config:
    "@type": type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig
    grpc_service: { envoy_grpc: { cluster_name: logs } }
`;

/** Each name as `type name: type name, ...`. */
function namesIn(content: string, file = "/a/envoy.yaml"): readonly string[] {
  const short = (typeUrl: string): string => typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
  return read(file, content).names.map(({ typeUrl, name, references }) => {
    const names = references.map((one) => `${short(one.typeUrl)} ${one.name}`);
    return `${short(typeUrl)} ${name}: ${[...new Set(names)].toSorted().join(", ")}`;
  });
}

describe("createBootstrapReader()", () => {
  it("reads static resources, what they refer to, and what the rest refers to", () => {
    expect(namesIn(text + sink)).toEqual([
      "Cluster web: ",
      "Cluster logs: ",
      "Secret cert: ",
      "Listener in: Cluster logs, Cluster web",
      "Bootstrap : Cluster logs, Secret cert",
    ]);
  });

  it.each([
    ["is broken", "static_resources: [", "/a/envoy.yaml"],
    ["is not a bootstrap", "clusters: []\n", "/a/envoy.yaml"],
    ["is empty", "", "/a/envoy.yaml"],
    ["has another format", text, "/a/envoy.txt"],
  ])("finds nothing in a text that %s", (_, content, file) => {
    expect(read(file, content)).toEqual({ names: [], isDynamic: false });
  });

  it.each([
    ["nothing else", "", false],
    ["dynamic resources", "dynamic_resources: { cds_config: { ads: {} } }\n", true],
    [
      "static resources of files",
      "  - { name: eds, type: EDS, eds_cluster_config: { eds_config: { path_config_source: { path: /a } } } }\n",
      false,
    ],
    [
      "a ConfigSource in a static resource",
      "  - { name: eds, type: EDS, eds_cluster_config: { eds_config: { api_config_source: { api_type: GRPC, grpc_services: [{ envoy_grpc: { cluster_name: web } }] } } } }\n",
      true,
    ],
  ])("says whether resources come from a server: %s", (_, more, isDynamic) => {
    expect(read("/a/envoy.yaml", text + more).isDynamic).toBe(isDynamic);
  });
});
