import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { checkFolder } from "./check-folder.ts";
import { formatProblem } from "./folder-problem.ts";

async function check(files: Readonly<Record<string, string | Uint8Array>>) {
  const { dir } = await useFolder(files);
  const { problems, warnings } = await checkFolder({ dir, registry: envoyRegistry() });
  const texts = (found: typeof problems): readonly string[] =>
    found.map((problem) => formatProblem(problem).replace(join(dir, "/"), ""));
  return { problems: texts(problems), warnings: texts(warnings) };
}

const assignment = (port: string, weight = "1"): string => `endpoints:
- lb_endpoints:
  - endpoint: { address: { socket_address: { address: 10.0.0.1, portValue: ${port} } } }
    load_balancing_weight: ${weight}
`;
const used = {
  "_opaque/clusters/web.yaml": "type: EDS\neds_cluster_config: { eds_config: { ads: {} } }\n",
};

describe("checkFolder()", () => {
  it("gives a violated constraint with its line, in either spelling of a field", async () => {
    const { problems } = await check({
      ...used,
      "_opaque/endpoints/web.yaml": assignment("70000", "0"),
    });
    expect(problems).toEqual([
      "_opaque/endpoints/web.yaml:3:65: endpoints[0].lb_endpoints[0].endpoint.address.socket_address.port_value must be at most 65535 [uint32.lte]",
      "_opaque/endpoints/web.yaml:4:5: endpoints[0].lb_endpoints[0].load_balancing_weight must be at least 1 [uint32.gte]",
    ]);
  });

  it("warns of listeners of one node with one address, and not of those that no client gets together", async () => {
    const listener = (port: number): string =>
      `address: { socket_address: { address: "::1", port_value: ${port} } }
filter_chains: [{ filters: [{ name: e, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo } }] }]
`;
    const { problems, warnings } = await check({
      "_opaque/listeners/a.yaml": listener(80),
      "_opaque/listeners/b.yaml": listener(80).replace("::1", "0:0::1"),
      "_opaque/listeners/c.yaml": listener(81),
      "_nodes/one/_opaque/listeners/d.yaml": listener(81),
      "_nodes/one/_opaque/listeners/e.yaml": listener(82),
      "_nodes/two/_opaque/listeners/f.yaml": listener(82),
      "x/envoy.config.listener.v3.Listener/g.yaml": listener(80),
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      '_opaque/listeners/b.yaml:1:61: listener "b" has the address of listener "a" (a client that gets both rejects one of them)',
      '_nodes/one/_opaque/listeners/d.yaml:1:58: listener "d" has the address of listener "c" (a client that gets both rejects one of them)',
    ]);
  });

  it("finds them in each entry of a list, whatever Envoy declares [B-LIST-1]", async () => {
    const path = "a/envoy.config.cluster.v3.ClusterCollection/all.yaml";
    const { problems } = await check({
      [path]: `entries:
- locator: xdstp://a/envoy.config.cluster.v3.Cluster/web
- inline_entry: {name: in, resource: {}}
- inline_entry:
    resource:
      name: y
      connect_timeout: 0s
`,
    });
    expect(problems).toEqual([
      `${path}:7:7: entries[2].inline_entry.resource.connect_timeout must be more than 0s [duration.gt]`,
    ]);
  });

  it("finds them in later documents, in wrappers and in extensions", async () => {
    const filter = `- name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      cluster: web`;
    const { problems } = await check({
      "_opaque/clusters/all.yaml": "name: a\n---\nname: web\nconnect_timeout: 0s\n",
      "_opaque/listeners/l.yaml": `resource:
  address: { socket_address: { address: 127.0.0.1, port_value: 1 } }
  filter_chains:
  - filters:
    ${filter.replaceAll("\n", "\n  ")}
`,
    });
    expect(problems).toEqual([
      "_opaque/clusters/all.yaml:4:1: connect_timeout must be more than 0s [duration.gt]",
      "_opaque/listeners/l.yaml:6:7: filter_chains[0].filters[0].typed_config.stat_prefix must not be empty [string.min_len]",
    ]);
  });

  it("gives those of a binary file without a line, and of a file above 256 KiB too", async () => {
    const cluster = create(ClusterSchema, { name: "b", connectTimeout: { seconds: 0n } });
    const { problems } = await check({
      "_opaque/clusters/b.pb": toBinary(ClusterSchema, cluster),
      "_opaque/clusters/c.yaml": `alt_stat_name: ${"x".repeat(300_000)}\nconnect_timeout: 0s\n`,
    });
    expect(problems).toEqual([
      "_opaque/clusters/b.pb: connect_timeout must be more than 0s [duration.gt]",
      "_opaque/clusters/c.yaml:2:1: connect_timeout must be more than 0s [duration.gt]",
    ]);
  });

  it("warns of references to what the folder does not have, once for each place", async () => {
    const { problems, warnings } = await check({
      ...used,
      "_opaque/routes/r.yaml": `virtual_hosts:
- name: v
  domains: ["*"]
  routes:
  - match: { prefix: /a }
    route: { cluster: web }
  - match: { prefix: /b }
    route: { cluster: wbe }
`,
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      '_opaque/clusters/web.yaml: refers to endpoints "web", which is not in the folder (add it, unless clients have it from elsewhere)',
      '_opaque/routes/r.yaml:8:23: virtual_hosts[0].routes[1].route.cluster: refers to clusters "wbe", which is not in the folder (add it, unless clients have it from elsewhere)',
      '_opaque/routes/r.yaml: nothing refers to routes "r" (remove it, unless a client requests it by this name)',
    ]);
  });

  it("finds names of xdstp whatever the order of their parameters and with directives, aliases, and those of node keys", async () => {
    const listener = (
      name: string,
      port = 1,
    ): string => `address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
filter_chains:
- filters:
  - name: tcp
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: tcp
      cluster: "${name}"
`;
    const type = "envoy.config.cluster.v3.Cluster";
    const { warnings } = await check({
      "a/clusters/web.yaml": `name: xdstp://a/${type}/web?x=1&y=2\nresource: { "@type": type.googleapis.com/${type} }\n`,
      "a/listeners/one.yaml": listener(`xdstp://a/${type}/web?y=2&x=1#alt=xdstp://b/${type}/web`),
      "_opaque/clusters/real.yaml":
        "name: real\naliases: [nick]\nresource: { '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster }\n",
      "_opaque/listeners/two.yaml": listener("nick"),
      "_nodes/edge/_opaque/clusters/own.yaml": "{}",
      "_opaque/listeners/three.yaml": listener("own", 2),
      "_nodes/core/_opaque/listeners/four.yaml": listener("own", 3),
    });
    expect(warnings).toEqual([
      '_nodes/core/_opaque/listeners/four.yaml:8:16: filter_chains[0].filters[0].typed_config.cluster: refers to clusters "own", which is not in the folder (add it, unless clients have it from elsewhere)',
    ]);
  });

  it("takes the references of the entries of a list, and the targets of its locators and of redirects", async () => {
    const type = "envoy.config.cluster.v3.Cluster";
    const { problems, warnings } = await check({
      "_opaque/endpoints/inl.yaml": "{}",
      "a/envoy.config.cluster.v3.ClusterCollection/all.yaml": `entries:
- inline_entry:
    name: inl
    resource: { name: inl, type: EDS, eds_cluster_config: { eds_config: { ads: {} } } }
- locator: xdstp://a/${type}/web
- locator: xdstp://a/${type}/missing
- locator: xdstp://elsewhere/${type}/web
`,
      "a/clusters/web.yaml": "{}",
      "_opaque/listeners/l.yaml": `address: { socket_address: { address: 127.0.0.1, port_value: 1 } }
filter_chains:
- filters:
  - name: tcp
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: tcp
      cluster: inl
`,
      "a/clusters/old.yaml": `"@type": type.googleapis.com/xds.core.v3.ResourceLocator
authority: a
resource_type: ${type}
id: gone
`,
      "a/clusters/older.yaml": `xdstp://a/${type}/old`,
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      `a/clusters/old.yaml: refers to clusters "xdstp://a/${type}/gone", which is not in the folder (add it, unless clients have it from elsewhere)`,
      `a/envoy.config.cluster.v3.ClusterCollection/all.yaml:6:12: entries[2].locator: refers to clusters "xdstp://a/${type}/missing", which is not in the folder (add it, unless clients have it from elsewhere)`,
    ]);
  });

  it("shows of a key in a map what may be shown", async () => {
    const { problems } = await check({
      ...used,
      "_opaque/endpoints/web.yaml": `named_endpoints:
  web.example_1: { address: { socket_address: { address: a, port_value: 70000 } } }
  "token SECRET": { address: { socket_address: { address: a, port_value: 70000 } } }
`,
    });
    const rest = ".address.socket_address.port_value must be at most 65535 [uint32.lte]";
    expect(problems.toSorted()).toEqual([
      `_opaque/endpoints/web.yaml:2:61: named_endpoints["web.example_1"]${rest}`,
      `_opaque/endpoints/web.yaml:3:62: named_endpoints["token..."]${rest}`,
    ]);
  });

  it("gives the problem of a folder that cannot be read", async () => {
    const { problems } = await check({});
    expect(problems).toEqual([]);
    expect(
      (await checkFolder({ dir: "/no/such", registry: envoyRegistry() })).problems,
    ).toMatchObject([{ file: "/no/such" }]);
  });
});
