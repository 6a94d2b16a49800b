import { describe, expect, it } from "vitest";
import type {
  CompletionItem,
  Hover,
  Location,
  TextDocumentEdit,
  WorkspaceEdit,
} from "vscode-languageserver/node";
import { type Editor, useEditor } from "../test/use-editor.ts";

const bootstrap = "envoy.yaml";
const staticText = `node: { id: a, cluster: web }
static_resources:
  listeners:
  - name: web
    address: { socket_address: { address: 127.0.0.1, port_value: 10000 } }
    filter_chains:
    - filters:
      - name: web
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: web
          access_log:
          - name: grpc
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
              common_config: { log_name: a, grpc_service: { envoy_grpc: { cluster_name: web } } }
          route_config:
            virtual_hosts:
            - name: web
              domains: ["*"]
              routes:
              - match: { prefix: / }
                route: { cluster: web }
  clusters:
  - alt_stat_name: web
    name: web
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context: { tls_certificate_sds_secret_configs: [{ name: cert }] }
  - name: xds
  secrets:
  - name: cert
stats_sinks:
- name: sink
  typed_config:
    "@type": type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig
    grpc_service: { envoy_grpc: { cluster_name: web } }
`;
const dynamicText = `dynamic_resources:
  ads_config: { api_type: GRPC, grpc_services: [{ envoy_grpc: { cluster_name: xds } }] }
  cds_config: { ads: {} }
`;
const servedText = `static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: blue
  clusters:
  - name: xds
${dynamicText}`;
const sinkTo = (cluster: string): string => `stats_sinks:
- name: sink
  typed_config:
    "@type": type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig
    grpc_service:
      envoy_grpc:
        cluster_name: ${cluster}`;
const blue = "config/_opaque/clusters/blue.yaml";
const routes = "config/_opaque/routes/shop.yaml";
const routesTo = (cluster: string): string =>
  `virtual_hosts: [{ name: a, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: ${cluster} } }] }]\n`;
const folder = { [blue]: "type: STATIC\n", [routes]: routesTo("blue") };
const start = { line: 0, character: 0 };
const usage = { context: { includeDeclaration: true } };

/** Places as `path:line text`. */
function places(
  editor: Editor,
  found: readonly Location[],
  texts: Readonly<Record<string, string>>,
): readonly string[] {
  return found.map(({ uri, range: { start, end } }) => {
    const path = editor.path(uri);
    const line = texts[path]?.split("\n")[start.line] ?? "";
    return `${path}:${start.line + 1} ${line.slice(0, start.character).trim()}[${line.slice(start.character, end.character)}]`;
  });
}

async function withBootstrap(
  text: string,
): Promise<{ editor: Editor; ask: <T>(method: string, more?: object) => Promise<T> }> {
  const editor = await useEditor({ ...folder, [bootstrap]: "" });
  const at = editor.open(bootstrap, text);
  return { editor, ask: async (method, more) => editor.ask(method, bootstrap, at, more) };
}

describe("names in a bootstrap", () => {
  it.each([
    ["route: { cluster: w‸eb", "26 name:[web]"],
    ["log_name: a, grpc_service: { envoy_grpc: { cluster_name: w‸eb", "26 name:[web]"],
    ["[{ name: c‸ert }]", "34 - name:[cert]"],
    ["    grpc_service: { envoy_grpc: { cluster_name: ‸web", "26 name:[web]"],
    ["  - name: x‸ds", "32 - name:[xds]"],
  ])("lead to the static resource: %s", async (mark, place) => {
    const text = staticText.replace(mark.replace("‸", ""), mark);
    const { editor, ask } = await withBootstrap(text);
    const found = places(editor, await ask<Location[]>("definition"), { [bootstrap]: staticText });
    expect(found).toEqual([`${bootstrap}:${place}`]);
  });

  it("lead to all references, and not to equal texts", async () => {
    const { editor, ask } = await withBootstrap(
      staticText.replace("    name: web\n    tr", "    name: w‸eb\n    tr"),
    );
    const found = await ask<Location[]>("references", usage);
    expect(places(editor, found, { [bootstrap]: staticText })).toEqual([
      "envoy.yaml:16 common_config: { log_name: a, grpc_service: { envoy_grpc: { cluster_name:[web]",
      "envoy.yaml:23 route: { cluster:[web]",
      "envoy.yaml:39 grpc_service: { envoy_grpc: { cluster_name:[web]",
      "envoy.yaml:26 name:[web]",
    ]);
  });

  it.each([
    "node: { id: a, cluster: w‸eb",
    "stat_prefix: w‸eb",
    "alt_stat_name: w‸eb",
    "            - name: w‸eb",
  ])("are not found in other texts: %s", async (mark) => {
    const { ask } = await withBootstrap(staticText.replace(mark.replace("‸", ""), mark));
    expect(await ask("references", usage)).toEqual([]);
    expect(await ask("prepareRename")).toBeNull();
  });

  it("are renamed with all references", async () => {
    const { ask } = await withBootstrap(
      staticText.replace("route: { cluster: web", "route: { cluster: w‸eb"),
    );
    const { documentChanges } = await ask<WorkspaceEdit>("rename", { newName: "blue" });
    expect(documentChanges).toHaveLength(1);
    const { edits } = documentChanges?.[0] as TextDocumentEdit;
    expect(edits.map((one) => "range" in one && one.range.start.line + 1)).toEqual([
      26, 16, 23, 39,
    ]);
    await expect(ask("rename", { newName: "xds" })).rejects.toThrow(
      'there is a resource clusters "xds" already',
    );
  });

  it.each([
    ["the name is an anchor", "- name: &n w‸eb\n    alt_stat_name: *n", "web"],
    ["the reference is an anchor", "- name: w‸eb\n    alt_stat_name: *n", "&n web"],
    ["a reference is a block", `- name: w‸eb\n${sinkTo(">-\n          web")}`, "web"],
    ["two have the name", "- name: web\n  - name: web", "w‸eb"],
    ["the endpoints have it too", "- name: w‸eb\n    type: EDS", "web"],
  ])("are not renamed where %s", async (_, clusters, reference) => {
    const text = servedText
      .replace(dynamicText, "")
      .replace("cluster: blue", `cluster: ${reference}`)
      .replace("- name: xds", clusters);
    const { ask } = await withBootstrap(text);
    await expect(ask("rename", { newName: "green" })).rejects.toThrow("change it there");
  });

  it("are suggested, without those of the folder where no server gives any", async () => {
    const { ask } = await withBootstrap(
      staticText.replace("route: { cluster: web", "route: { cluster: ‸"),
    );
    const items = await ask<CompletionItem[]>("completion");
    expect(items.map(({ label }) => label)).toEqual(["web", "xds"]);
  });
});

describe("names in a bootstrap to which a server gives resources", () => {
  const atBlue = servedText.replace("cluster: blue", "cluster: b‸lue");

  it("lead to the folder, and are suggested with those of the folder", async () => {
    const { editor, ask } = await withBootstrap(atBlue);
    expect(places(editor, await ask("definition"), {})).toEqual([`${blue}:1 []`]);
    const items = await ask<CompletionItem[]>("completion");
    expect(items.map(({ label }) => label)).toEqual(["blue", "xds"]);
    expect((await ask<Hover>("hover")).contents).toMatchObject({
      value: "clusters `blue`: in config/_opaque/clusters/blue.yaml; 2 resources refer to it",
    });
  });

  it("lead to a static resource before one of the folder", async () => {
    const { editor, ask } = await withBootstrap(
      atBlue.replace("  - name: xds", "  - name: blue\n  - name: xds"),
    );
    expect(places(editor, await ask("definition"), {})).toEqual(["envoy.yaml:12 []"]);
    editor.open(blue);
    const found = await editor.ask<Location[]>("references", blue, start, usage);
    expect(places(editor, found, {})).toEqual([`${routes}:1 []`, `${blue}:1 []`]);
  });

  it("are found and renamed from the folder", async () => {
    const { editor } = await withBootstrap(servedText);
    const at = editor.open(routes, routesTo("b‸lue"));
    const found = await editor.ask<Location[]>("references", routes, at, usage);
    const texts = { [bootstrap]: servedText, [routes]: routesTo("blue") };
    expect(places(editor, found, texts).map((one) => one.replace(/ .*\[/, " ["))).toEqual([
      `${routes}:1 [blue]`,
      "envoy.yaml:10 [blue]",
      `${blue}:1 []`,
    ]);
    const edit = await editor.ask<WorkspaceEdit>("rename", routes, at, { newName: "green" });
    expect(
      edit.documentChanges?.map((one) =>
        "textDocument" in one ? editor.path(one.textDocument.uri) : one.kind,
      ),
    ).toEqual([routes, bootstrap, "rename"]);
  });

  it("are static where the folder does not have them", async () => {
    const { editor } = await withBootstrap(servedText);
    const at = editor.open(routes, routesTo("x‸ds"));
    expect(places(editor, await editor.ask("definition", routes, at), {})).toEqual([
      "envoy.yaml:12 []",
    ]);
  });

  it("are not those of a bootstrap without a server", async () => {
    const { editor } = await withBootstrap(staticText);
    const at = editor.open(routes, routesTo("x‸ds"));
    expect(await editor.ask("definition", routes, at)).toEqual([]);
  });
});

it("names that two bootstraps have are apart", async () => {
  const { editor, ask } = await withBootstrap(atXds(servedText));
  editor.open("other.yaml", servedText);
  const found = await ask<Location[]>("references", usage);
  expect(new Set(found.map(({ uri }) => editor.path(uri)))).toEqual(new Set([bootstrap]));
});

it("names of two bootstraps to which one file refers are not renamed in one of them only", async () => {
  const editor = await useEditor({ ...folder, [routes]: routesTo("xds"), "other.yaml": "" });
  editor.open("other.yaml", servedText);
  const at = editor.open(bootstrap, atXds(servedText));
  await expect(editor.ask("rename", bootstrap, at, { newName: "green" })).rejects.toThrow(
    /routes\/shop\.yaml refers to clusters "xds" of .*other\.yaml too; rename it from /,
  );
  const fromRoutes = editor.open(routes, routesTo("x‸ds"));
  const edit = await editor.ask<WorkspaceEdit>("rename", routes, fromRoutes, { newName: "green" });
  expect(edit.documentChanges).toHaveLength(3);
});

function atXds(text: string): string {
  return text.replace("cluster_name: xds", "cluster_name: x‸ds");
}
