import type {
  CompletionItem,
  Hover,
  Location,
  Position,
  TextDocumentEdit,
  WorkspaceEdit,
} from "vscode-languageserver/node";
import { PassThrough } from "node:stream";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { type Editor, useEditor } from "../test/use-editor.ts";
import { startLanguageServer } from "./language-server.ts";

const cluster = "config/_opaque/clusters/web.yaml";
const routes = "config/_opaque/routes/shop.yaml";
const routesText = `virtual_hosts:
- name: web
  domains: ["*"]
  routes:
  - match: { prefix: / }
    route: { cluster: web }
  - match: { prefix: /b }
    route: { cluster: "web" }
`;
const files = {
  [cluster]: "name: web\ntype: STATIC\nalt_stat_name: web\n",
  "config/_opaque/clusters/blue.yaml": "type: STATIC\n",
  [routes]: routesText,
  "config/_opaque/listeners/edge.yaml": `filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: shop
      rds: { route_config_name: shop, config_source: { ads: {} } }
`,
};
const atCluster = routesText.replace("cluster: web", "cluster: w‸eb");

function places(editor: Editor, locations: readonly Location[]): readonly string[] {
  return locations.map(
    ({ uri, range: { start, end } }) =>
      `${editor.path(uri)}:${start.line + 1}:${start.character + 1}-${end.character + 1}`,
  );
}

function applied(text: string, edit: WorkspaceEdit, uri: string): string {
  const changes = edit.documentChanges?.filter(
    (change): change is TextDocumentEdit => "edits" in change && change.textDocument.uri === uri,
  );
  const lines = text.split("\n");
  const edits = changes?.flatMap((change) => change.edits) ?? [];
  for (const one of edits.toReversed()) {
    if (!("newText" in one)) continue;
    const { range, newText } = one;
    const { line, character } = range.start;
    const before = lines[line] ?? "";
    lines[line] = before.slice(0, character) + newText + before.slice(range.end.character);
  }
  return lines.join("\n");
}

describe("diagnostics", () => {
  it("come for files that are not open, and for unsaved text instead of the file", async () => {
    const editor = await useEditor({ ...files, [cluster]: "typ: STATIC\n" });
    expect(await editor.diagnosed(cluster, (found) => found.length > 0)).toEqual([
      "1 1 unknown-field",
    ]);
    editor.open(cluster, "type: STATIC\n");
    expect(await editor.diagnosed(cluster, (found) => found.length === 0)).toEqual([]);
    editor.change(cluster, "type: STATIC\nconnect_timeout: 0s\n");
    expect(await editor.diagnosed(cluster, (found) => found.length > 0)).toEqual([
      "2 1 constraint",
    ]);
  });

  it("warn of references, and stop when the resource is there", async () => {
    const editor = await useEditor(files);
    editor.open(routes, routesText.replace("cluster: web", "cluster: wbe"));
    expect(await editor.diagnosed(routes, (found) => found.length > 0)).toEqual([
      "6 2 dangling-reference",
    ]);
    editor.change(routes, routesText);
    expect(await editor.diagnosed(routes, (found) => found.length === 0)).toEqual([]);
  });

  it("of other files stay while a text cannot be parsed", async () => {
    const editor = await useEditor(files);
    editor.open(cluster, "name: web\ntype: [\n");
    expect(await editor.diagnosed(cluster, (found) => found.length > 0)).toHaveLength(1);
    // An answer comes after all diagnostics of the check.
    await editor.ask("hover", cluster, { line: 0, character: 0 });
    expect(editor.published(routes)).toBe(0);
    editor.change(cluster, "name: web\ntype: STATI\n");
    await editor.diagnosed(cluster, (found) => found[0]?.endsWith("wrong-enum-value") === true);
  });

  it("come for a bootstrap outside of the folder", async () => {
    const editor = await useEditor({ ...files, "envoy.yaml": "" });
    editor.open("envoy.yaml", "static_resources:\n  clusters:\n  - name: ''\n");
    expect(await editor.diagnosed("envoy.yaml", (found) => found.length > 0)).toEqual([
      "3 1 constraint",
    ]);
  });
});

describe("names", () => {
  it("lead to the resource, by its name or its file", async () => {
    const editor = await useEditor(files);
    const found = await editor.ask<Location[]>(
      "definition",
      routes,
      editor.open(routes, atCluster),
    );
    expect(places(editor, found)).toEqual([`${cluster}:1:7-10`]);
    const blue = editor.open(
      "config/_opaque/routes/shop.yaml",
      routesText.replace("cluster: web", "cluster: bl‸ue"),
    );
    expect(places(editor, await editor.ask<Location[]>("definition", routes, blue))).toEqual([
      "config/_opaque/clusters/blue.yaml:1:1-1",
    ]);
  });

  it("lead to all references, also within extensions, and not to equal texts", async () => {
    const editor = await useEditor(files);
    const at = editor.open(routes, atCluster);
    const context = { context: { includeDeclaration: true } };
    const found = await editor.ask<Location[]>("references", routes, at, context);
    expect(places(editor, found)).toEqual([
      `${routes}:6:23-26`,
      `${routes}:8:23-28`,
      `${cluster}:1:7-10`,
    ]);
    const ofRoutes = await editor.ask<Location[]>(
      "references",
      routes,
      { line: 0, character: 0 },
      {
        context: { includeDeclaration: false },
      },
    );
    expect(places(editor, ofRoutes)).toEqual(["config/_opaque/listeners/edge.yaml:7:33-37"]);
  });

  it("are described", async () => {
    const editor = await useEditor(files);
    const hover = await editor.ask<Hover>("hover", routes, editor.open(routes, atCluster));
    expect(hover.contents).toMatchObject({
      value: "clusters `web`: in config/_opaque/clusters/web.yaml; 1 resource refers to it",
    });
  });

  it.each([
    ["in the place of a value", "cluster: ‸web"],
    ["where there is nothing yet", "cluster: ‸"],
  ])("are suggested by their type %s", async (_, text) => {
    const editor = await useEditor(files);
    const at = editor.open(routes, routesText.replace("cluster: web", text));
    const items = await editor.ask<CompletionItem[]>("completion", routes, at);
    expect(items.map(({ label }) => label).toSorted()).toEqual(["blue", "web"]);
  });

  it("are not suggested where another text belongs", async () => {
    const editor = await useEditor(files);
    const at = editor.open(routes, routesText.replace("name: web", "name: w‸"));
    expect(await editor.ask<CompletionItem[]>("completion", routes, at)).toEqual([]);
  });
});

describe("messages", () => {
  it.each([
    ["no length", "Length: 2\r\n\r\n{}", "Header must provide a Content-Length property."],
    [
      "a length in words",
      "Content-Length: two\r\n\r\n{}",
      "Content-Length value must be a number. Got two",
    ],
    ["no header", "{}\r\n\r\n", "Message header must separate key and value using ':'"],
  ])("with %s end the server with a reason", async (_, text, reason) => {
    const input = new PassThrough();
    const server = startLanguageServer({
      input,
      output: new PassThrough(),
      dir: "config",
      registry: envoyRegistry(),
    });
    input.write(text);
    await expect(server).rejects.toThrow(
      `the input is not of the Language Server Protocol: ${reason}`,
    );
  });

  it("that are not JSON are passed over", async () => {
    const editor = await useEditor(files);
    editor.write("Content-Length: 3\r\n\r\n{a}");
    const at = editor.open(routes, atCluster);
    expect(await editor.ask("definition", routes, at)).toHaveLength(1);
  });
});

describe("rename", () => {
  it.each(["a\nb", "a\u0000", "\u007f"])(
    "to %j, which has a control character, is rejected",
    async (newName) => {
      const editor = await useEditor(files);
      const at = editor.open(routes, atCluster);
      await expect(editor.ask("rename", routes, at, { newName })).rejects.toThrow(
        "a name has no control characters, such as a line end",
      );
    },
  );

  it("changes the name, all references and the path of the file, and no equal text", async () => {
    const editor = await useEditor(files);
    const at = editor.open(routes, atCluster);
    expect(await editor.ask("prepareRename", routes, at)).toMatchObject({ placeholder: "web" });
    const edit = await editor.ask<WorkspaceEdit>("rename", routes, at, { newName: "green" });
    expect(applied(routesText, edit, editor.uri(routes))).toBe(
      routesText.replace("cluster: web", "cluster: green").replace('"web"', '"green"'),
    );
    expect(applied(files[cluster], edit, editor.uri(cluster))).toBe(
      "name: green\ntype: STATIC\nalt_stat_name: web\n",
    );
    expect(edit.documentChanges?.filter((change) => "kind" in change)).toEqual([
      {
        kind: "rename",
        oldUri: editor.uri(cluster),
        newUri: editor.uri("config/_opaque/clusters/green.yaml"),
      },
    ]);
  });

  it("of one of several documents keeps the path", async () => {
    const both = "config/_opaque/clusters/both.yaml";
    const text = "name: a\ntype: STATIC\n---\nname: b\ntype: STATIC\n";
    const editor = await useEditor({ ...files, [both]: text });
    editor.open(both);
    const edit = await editor.ask<WorkspaceEdit>(
      "rename",
      both,
      { line: 3, character: 7 },
      { newName: "c" },
    );
    expect(applied(text, edit, editor.uri(both))).toBe(text.replace("name: b", "name: c"));
    expect(edit.documentChanges).toHaveLength(1);
  });

  it("of an xdstp name stays below its authority and type", async () => {
    const path = "config/example.com/clusters/old.yaml";
    const name = "xdstp://example.com/envoy.config.cluster.v3.Cluster";
    const text = routesText.replace("cluster: web", `cluster: ${name}/old`);
    const editor = await useEditor({ ...files, [path]: "type: STATIC\n", [routes]: text });
    const at: Position = { ...editor.open(routes), line: 5, character: 25 };
    const edit = await editor.ask<WorkspaceEdit>("rename", routes, at, {
      newName: `${name}/a/new`,
    });
    expect(applied(text, edit, editor.uri(routes))).toContain(`cluster: ${name}/a/new`);
    expect(edit.documentChanges?.at(-1)).toMatchObject({
      newUri: editor.uri("config/example.com/clusters/a/new.yaml"),
    });
    await expect(editor.ask("rename", routes, at, { newName: "new" })).rejects.toThrow(
      `the new name has to begin with ${name}/`,
    );
  });

  it("is rejected where it cannot be done", async () => {
    const editor = await useEditor({
      ...files,
      "config/_opaque/clusters/eds.yaml":
        "type: EDS\neds_cluster_config: { eds_config: { ads: {} } }\n",
      "config/_opaque/endpoints/eds.yaml": "endpoints: []\n",
    });
    const at = editor.open(routes, atCluster);
    await expect(editor.ask("rename", routes, at, { newName: "blue" })).rejects.toThrow(
      'there is a resource clusters "blue" already',
    );
    editor.open("config/_opaque/endpoints/eds.yaml");
    await expect(
      editor.ask(
        "rename",
        "config/_opaque/endpoints/eds.yaml",
        { line: 0, character: 0 },
        { newName: "x" },
      ),
    ).rejects.toThrow(/eds\.yaml refers to endpoints "eds" without naming it/);
    const documents = "config/_opaque/endpoints/two.yaml";
    const eds = "type: EDS\neds_cluster_config: { eds_config: { ads: {} } }\n";
    const both = await useEditor({
      "config/_opaque/clusters/two.yaml": `name: a\n${eds}---\nname: b\n${eds}`,
      [documents]: "cluster_name: a\n---\ncluster_name: b\n",
    });
    both.open(documents);
    await expect(
      both.ask("rename", documents, { line: 2, character: 14 }, { newName: "c" }),
    ).rejects.toThrow(/two\.yaml refers to endpoints "b" without naming it/);
    await expect(
      editor.ask("rename", routes, { line: 4, character: 20 }, { newName: "x" }),
    ).rejects.toThrow("put the cursor on a name");
  });
});

describe("the server", () => {
  it("ends with its stream, also without a folder", async () => {
    const editor = await useEditor({ "a.txt": "" });
    await expect(editor.end()).resolves.toBeUndefined();
  });
});
