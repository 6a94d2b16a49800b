import { readdirSync, readFileSync } from "node:fs";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { createEditor, type Editor } from "../test/create-editor.ts";
import { folderSchemas } from "./index.ts";

const { files, folders } = folderSchemas(envoyRegistry());
const editors = new Map<string, Editor>();

/** Returns the editor of a schema, which reads the schema once. */
function editorOf(file: string): Editor {
  const editor = editors.get(file) ?? createEditor(files[file] ?? {}, files);
  editors.set(file, editor);
  return editor;
}

const clusters = editorOf("clusters.json");
const lists = editorOf("clusters-lists.json");

describe("folderSchemas()", () => {
  it("names the folders of each schema, by both names of their type", () => {
    expect(folders["clusters.json"]).toEqual(["clusters", "envoy.config.cluster.v3.Cluster"]);
    expect(folders["clusters-lists.json"]).toEqual(["envoy.config.cluster.v3.ClusterCollection"]);
    expect(Object.keys(files).toSorted()).toEqual(
      ["messages.json", ...Object.keys(folders)].toSorted(),
    );
  });

  it.each([
    ["a resource that is named by its path", "type: EDS\nconnect_timeout: 1s\n"],
    ["@type", '"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: a\n'],
    ["a redirect as a text", "xdstp://example.com/envoy.config.cluster.v3.Cluster/web\n"],
    [
      "a redirect as a message",
      '"@type": xds.core.v3.ResourceLocator\nauthority: a\nresource_type: b\nid: c\ndirectives:\n- alt: xdstp://b/c/d\n',
    ],
    ["a Resource", "name: web\nttl: 60s\naliases: [a]\nresource:\n  type: EDS\n"],
    [
      "a redirect in a Resource",
      "ttl: 60s\nresource: xdstp://a/envoy.config.cluster.v3.Cluster/b\n",
    ],
    [
      "a variant",
      "resource_name:\n  name: a\n  dynamic_parameter_constraints: {constraint: {key: env, value: prod}}\nresource: {type: EDS}\n",
    ],
    ["a DiscoveryResponse", "resources:\n- name: a\n- name: b\n  resource: {type: EDS}\n"],
    ["several documents", "name: a\n---\nname: b\n---\nxdstp://a/b/c\n"],
  ])("accepts %s", async (_, text) => {
    expect(await clusters.problemsIn(text)).toEqual([]);
  });

  it.each([
    ["a resource", "typ: EDS\n", "1: Property typ is not allowed."],
    ["the second document", "name: a\n---\nnames: b\n", "3: Property names is not allowed."],
    ["a Resource", "ttl: 60s\nresource:\n  typ: EDS\n", "3: Property typ is not allowed."],
    ["a DiscoveryResponse", "resources:\n- typ: a\n", "2: Property typ is not allowed."],
    ["a text that is not a locator", "web\n", "1: String does not match the pattern"],
    ["the @type of another message", '"@type": envoy.config.listener.v3.Listener\n', "1: "],
  ])("shows what is wrong in %s", async (_, text, problem) => {
    expect(await clusters.problemsIn(text)).toContainEqual(expect.stringContaining(problem));
  });

  it("suggests fields of the resource, of the wrapper and of what it holds", async () => {
    expect(await clusters.suggestionsAt("name: a\n‸")).toContain("lb_policy");
    const wrapped = "ttl: 60s\nresource:\n  type: EDS\n  ‸";
    expect(await clusters.suggestionsAt(wrapped)).toContain("lb_policy");
    expect(await clusters.suggestionsAt("ttl: 60s\nresource:\n  type: EDS\n‸")).toContain(
      "aliases",
    );
  });

  it.each([
    [
      "locators and entries",
      "entries:\n- locator: xdstp://a/envoy.config.cluster.v3.Cluster/b\n- inline_entry:\n    name: a\n    version: '1'\n    resource: {name: a, type: EDS}\n",
      [],
    ],
    ["an empty list", "entries: []\n", []],
    ["a list in a Resource", "ttl: 60s\nresource: {entries: []}\n", []],
    ["an entry of nothing", "entries:\n- {}\n", [expect.stringMatching(/^2: /)]],
    [
      "a wrong field in an entry",
      "entries:\n- inlineEntry:\n    resource:\n      name: a\n      typ: EDS\n",
      ["5: Property typ is not allowed."],
    ],
  ])("checks lists: %s", async (_, text, problems) => {
    expect(await lists.problemsIn(text)).toEqual(problems);
  });

  it("accepts the folder of an example", async () => {
    const dir = new URL("../../../examples/mesh/config/", import.meta.url);
    const paths = readdirSync(dir, { recursive: true, encoding: "utf8" });
    const texts = paths.filter((path) => path.endsWith(".yaml"));
    expect(texts.length).toBeGreaterThan(3);
    for (const path of texts) {
      const file = Object.entries(folders).find(([, names]) =>
        names.some((name) => path.split("/").includes(name)),
      )?.[0];
      const text = readFileSync(new URL(path, dir), "utf8");
      expect([path, await editorOf(file ?? "").problemsIn(text)]).toEqual([path, []]);
    }
  });
});
