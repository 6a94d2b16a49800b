import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/use-folder.ts";
import { checkFile } from "../check-file.ts";
import { formatProblem } from "../folder-problem.ts";

const registry = envoyRegistry();

/** The problems of a resource of this type, without their other fields. */
async function check(
  type: string,
  text: string,
  clients: readonly ("envoy" | "grpc")[] = ["grpc"],
) {
  const { dir } = await useFolder({
    "x.yaml": `"@type": type.googleapis.com/envoy.config.${type}\n${text}`,
  });
  const { problems } = await checkFile({ file: join(dir, "x.yaml"), registry, clients });
  return problems
    .filter(({ code }) => code === "rejected-by-grpc")
    .map((one) => formatProblem(one).replace(`${dir}/`, ""));
}

const filter = (name: string, type: string): string =>
  `{ name: ${name}, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.${type} } }`;
const router = filter("router", "router.v3.Router");
const fault = filter("fault", "fault.v3.HTTPFault");

const listener = (filters: string, more = ""): string => `name: svc
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    stat_prefix: x
    rds: { route_config_name: r, config_source: { ads: {} } }
    http_filters: [${filters}]
${more}`;

const eds = "name: c\ntype: EDS\neds_cluster_config: { eds_config: { ads: {} } }\n";

const endpoint = (port: number, more = ""): string =>
  `{ endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: ${port} } } }${more} }`;

const secured = (context: string): string =>
  `${eds}transport_socket: { name: envoy.transport_sockets.tls, typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext${context} } }\n`;
const validated = (validation: string): string =>
  secured(`, common_tls_context: { ${validation} }`);
const provider = "ca_certificate_provider_instance: { instance_name: a }";

const balanced = (...types: readonly string[]): string =>
  `${eds}load_balancing_policy: { policies: [${types.map((type) => `{ typed_extension_config: { name: a, typed_config: { "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.${type} } } }`).join(", ")}] }\n`;

describe("checkGrpc", () => {
  it.each([
    validated(`validation_context: { ${provider} }`),
    validated("validation_context: { system_root_certs: {} }"),
    validated(`combined_validation_context: { default_validation_context: { ${provider} } }`),
    balanced("maglev.v3.Maglev", "round_robin.v3.RoundRobin"),
    balanced("pick_first.v3.PickFirst"),
  ])("takes the cluster %s", async (text) => {
    expect(await check("cluster.v3.Cluster", text)).toEqual([]);
  });

  const noAuthority =
    "has no authority that gRPC can use (set validation_context.ca_certificate_provider_instance to a provider of the client's bootstrap)";

  it.each([
    [secured(""), `5:56: transport_socket.typed_config: ${noAuthority}`],
    [
      validated("validation_context: { trusted_ca: { filename: /ca.pem } }"),
      `5:163: transport_socket.typed_config.common_tls_context: ${noAuthority}`,
    ],
    [
      validated("validation_context_sds_secret_config: { name: a }"),
      `5:163: transport_socket.typed_config.common_tls_context: ${noAuthority}`,
    ],
    [
      validated(`tls_params: {}, validation_context: { ${provider} }`),
      "5:185: transport_socket.typed_config.common_tls_context.tls_params: must not be set",
    ],
    [
      balanced("maglev.v3.Maglev", "random.v3.Random"),
      "5:26: load_balancing_policy.policies: has no policy that gRPC has (gRPC has round_robin, ring_hash, least_request, pick_first and client_side_weighted_round_robin)",
    ],
  ])("finds in the cluster %s", async (text, problem) => {
    expect(await check("cluster.v3.Cluster", text)).toEqual([`x.yaml:${problem}`]);
  });

  it.each([
    ["listener.v3.Listener", listener(`${fault}, ${router}`)],
    ["listener.v3.Listener", listener(router, "    xff_num_trusted_hops: 0\n")],
    [
      "route.v3.RouteConfiguration",
      "name: r\nvirtual_hosts: [{ name: v, domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: c } }, { match: { prefix: /x }, direct_response: { status: 404 } }] }]\n",
    ],
    ["cluster.v3.Cluster", eds],
    [
      "cluster.v3.Cluster",
      `${eds}lb_policy: RING_HASH\nring_hash_lb_config: { minimum_ring_size: 4 }\n`,
    ],
    [
      "endpoint.v3.ClusterLoadAssignment",
      `cluster_name: c\nendpoints:\n- { locality: {}, load_balancing_weight: 1, lb_endpoints: [${endpoint(1)}, ${endpoint(2)}] }\n- { priority: 7 }\n`,
    ],
  ])("finds nothing in a %s that clients accept", async (type, text) => {
    expect(await check(type, text)).toEqual([]);
  });

  it.each([
    [
      "listener.v3.Listener",
      listener(fault),
      "x.yaml:8:20: api_listener.api_listener.http_filters[0]: the last filter must be the router",
    ],
    [
      "listener.v3.Listener",
      listener(`${filter("lua", "lua.v3.Lua")}, ${router}`),
      "x.yaml:8:20: api_listener.api_listener.http_filters[0]: envoy.extensions.filters.http.lua.v3.Lua is a filter that no gRPC library has (remove it for gRPC, or set is_optional)",
    ],
    [
      "listener.v3.Listener",
      listener(router, "    xff_num_trusted_hops: 2\n"),
      "x.yaml:9:5: api_listener.api_listener.xff_num_trusted_hops: has to be 0",
    ],
    [
      "route.v3.RouteConfiguration",
      "name: r\nvirtual_hosts:\n- name: v\n  domains: ['*']\n  routes:\n  - match: { connect_matcher: {} }\n    route: { cluster: c }\n",
      "x.yaml:7:5: virtual_hosts[0].routes[0].match: has no path that gRPC matches (set prefix, path or safe_regex; prefix: / matches every method)",
    ],
    [
      "cluster.v3.Cluster",
      "name: c\ntype: STATIC\n",
      "x.yaml:3:1: type: is not a type of cluster that gRPC has (gRPC has EDS, LOGICAL_DNS and envoy.clusters.aggregate)",
    ],
    [
      "cluster.v3.Cluster",
      `${eds}lb_policy: MAGLEV\n`,
      "x.yaml:5:1: lb_policy: is not one that gRPC has (gRPC has ROUND_ROBIN, RING_HASH and LEAST_REQUEST, and more in load_balancing_policy)",
    ],
    [
      "cluster.v3.Cluster",
      `${eds}outlier_detection: { max_ejection_percent: 101 }\n`,
      "x.yaml:5:22: outlier_detection.max_ejection_percent: must not be more than 100",
    ],
    [
      "endpoint.v3.ClusterLoadAssignment",
      "cluster_name: c\nendpoints:\n- { locality: {}, priority: 1, load_balancing_weight: 1 }\n",
      "x.yaml:3:1: endpoints: no locality with a weight has the priority 0, but one has a higher number (number the priorities from 0 without a gap)",
    ],
    [
      "endpoint.v3.ClusterLoadAssignment",
      `cluster_name: c\nendpoints:\n- locality: {}\n  load_balancing_weight: 1\n  lb_endpoints:\n  - ${endpoint(1)}\n  - ${endpoint(1)}\n`,
      'x.yaml:8:5: endpoints[0].lb_endpoints[1]: "10.0.0.1:1" is the address of another endpoint too',
    ],
  ])("finds what clients reject in a %s", async (type, text, line) => {
    expect(await check(type, text)).toEqual([line]);
    expect(await check(type, text, ["envoy"])).toEqual([]);
  });

  it("checks for both clients where both are given", async () => {
    const { dir } = await useFolder({
      "x.yaml": `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: c\ntype: ORIGINAL_DST\n`,
    });
    const file = join(dir, "x.yaml");
    const { problems } = await checkFile({ file, registry, clients: ["envoy", "grpc"] });
    expect(problems.map(({ code }) => code).sort()).toEqual(["bad-cluster", "rejected-by-grpc"]);
  });
});
