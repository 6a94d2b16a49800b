import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { checkBootstrap } from "./check-bootstrap.ts";
import { formatProblem } from "./folder-problem.ts";

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
    ["no content", "# only a comment\n", "error: envoy.yaml: is empty"],
    [
      "several documents",
      "node: {}\n---\nnode: {}\n",
      "error: envoy.yaml: is not one message (a bootstrap is one document)",
    ],
  ])("finds %s", async (_, text, line) => {
    const [first = "", ...more] = await check(text);
    expect(first.startsWith(line), first).toBe(true);
    expect(more).toEqual([]);
  });

  it("warns of a cluster that it does not have, unless clusters come from a server too", async () => {
    expect(await check(bootstrap("wbe"))).toEqual([
      'warning: envoy.yaml:13:20: static_resources.listeners[0].filter_chains[0].filters[0].typed_config.cluster: refers to clusters "wbe", which the bootstrap does not have',
    ]);
    const dynamic = "dynamic_resources: { cds_config: { ads: {} } }\n";
    expect(await check(bootstrap("wbe", dynamic))).toEqual([]);
  });

  it("gives the problem of a file that cannot be read", async () => {
    expect(await check("", "envoy.txt")).toEqual([
      "error: envoy.txt: is not read as a bootstrap of Envoy (the extensions that are read are .yaml, .yml and .json)",
    ]);
    const { problems } = await checkBootstrap({
      file: "/no/such.yaml",
      registry: envoyRegistry(),
    });
    expect(problems).toMatchObject([{ file: "/no/such.yaml" }]);
  });
});
