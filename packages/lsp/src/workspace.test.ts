import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CancellationTokenSource,
  type CompletionItem,
  type CompletionList,
  type Hover,
  type Location,
  LSPErrorCodes,
  type TextDocumentEdit,
  type WorkspaceEdit,
} from "vscode-languageserver/node";
import { useEditor } from "../test/use-editor.ts";

const cluster = "config/_opaque/clusters/web.yaml";
const routes = "config/_opaque/routes/shop.yaml";
const routesTo = (name: string): string => `virtual_hosts:
- name: shop
  domains: ["*"]
  routes:
  - match: { prefix: / }
    route: { cluster: ${name} }
`;
const files = { [cluster]: "type: STATIC\n", [routes]: routesTo("web") };
const isDangling = (found: readonly string[]): boolean =>
  found.some((one) => one.endsWith("dangling-reference"));

describe("files that change outside of the editor", () => {
  it("are checked again when they are deleted, created and moved", async () => {
    const editor = await useEditor(files);
    const path = join(editor.dir, cluster);
    editor.onDisk(() => {
      rmSync(path);
    });
    await editor.diagnosed(routes, isDangling);
    editor.onDisk(() => {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "type: STATIC\n");
    });
    await editor.diagnosed(routes, (found) => !isDangling(found));
    editor.onDisk(() => {
      renameSync(path, path.replace("web", "blue"));
    });
    await editor.diagnosed(routes, isDangling);
  });
});

describe("positions", () => {
  it("count UTF-16 units and end with CRLF", async () => {
    const text = routesTo("web").replace("prefix: / }", 'prefix: "/🙂" }').replaceAll("\n", "\r\n");
    const oneLine = text.replace(
      "    route: { cluster: web }",
      '    route: { "cluster": "web", prefix_rewrite: "/🙂🙂", x: 1 }',
    );
    const editor = await useEditor({ ...files, [routes]: text });
    const at = editor.open(routes, text.replace("cluster: web", "cluster: w‸eb"));
    const [found] = await editor.ask<Location[]>("definition", routes, at);
    expect(editor.path(found?.uri ?? "")).toBe(cluster);
    const edit = await editor.ask<WorkspaceEdit>("rename", routes, at, { newName: "green" });
    const change = edit.documentChanges?.find(
      (one): one is TextDocumentEdit =>
        "edits" in one && editor.path(one.textDocument.uri) === routes,
    );
    expect(change?.edits).toMatchObject([
      { range: { start: { line: 5, character: 22 }, end: { line: 5, character: 25 } } },
    ]);
    editor.change(routes, oneLine);
    // The key x is behind four surrogates.
    const isUnknown = (one: string): boolean => one === "6 1 unknown-field";
    expect(await editor.diagnosed(routes, (list) => list.some(isUnknown))).toHaveLength(1);
  });

  it("behind an emoji are found on the same line", async () => {
    const text = `virtual_hosts: [{ name: "🙂🙂", domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: w‸eb } }] }]\n`;
    const editor = await useEditor(files);
    const at = editor.open(routes, text);
    const { range } = await editor.ask<Hover>("hover", routes, at);
    expect(text.slice(range?.start.character, (range?.end.character ?? 0) + 1)).toBe("w‸eb");
  });
});

describe("URIs", () => {
  it("are answered as the editor has written them", async () => {
    const path = "config/_opaque/clusters/a b.yaml";
    const editor = await useEditor({ ...files, [path]: "typ: STATIC\n" });
    const escaped = editor.uri(path).replace("/_opaque", "/%5Fopaque");
    editor.openUri(escaped, "typ: EDS\n");
    expect(await editor.diagnosedUri(escaped, (found) => found.length > 0)).toEqual([
      "1 1 unknown-field",
    ]);
  });

  it.each(["file://host/share/envoy.yaml", "file:///a%2Fb.yaml", "untitled:envoy.yaml"])(
    "to which no path belongs do no harm: %s",
    async (uri) => {
      const editor = await useEditor(files);
      editor.openUri(uri, "static_resources: {}\n");
      editor.open(routes, routesTo("wbe"));
      await editor.diagnosed(routes, isDangling);
    },
  );
});

describe("a workspace with two roots", () => {
  it("has the folder in the first root that has it", async () => {
    const editor = await useEditor(
      { "one/a.txt": "", [`two/${cluster}`]: "typ: STATIC\n" },
      { roots: ["one", "two"] },
    );
    await editor.diagnosed(`two/${cluster}`, (found) => found.length > 0);
  });
});

describe("fast typing", () => {
  it("ends with the problems of the last text", async () => {
    const editor = await useEditor(files);
    editor.open(routes, routesTo(""));
    const word = "wbe";
    for (let count = 0; count < 100; count++)
      for (const [index, letter] of ["w", "b", "e", "", "", ""].entries()) {
        const isDeleted = index >= word.length;
        const character = 22 + (isDeleted ? 2 * word.length - 1 - index : index);
        const end = { line: 5, character: character + (isDeleted ? 1 : 0) };
        editor.edit(routes, { start: { line: 5, character }, end }, letter);
      }
    editor.edit(
      routes,
      { start: { line: 5, character: 22 }, end: { line: 5, character: 22 } },
      word,
    );
    expect(await editor.diagnosed(routes, isDangling)).toContain("6 2 dangling-reference");
  });

  it("cancels requests that wait for a check", async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => [
      `config/_opaque/clusters/c${index}.yaml`,
      "type: STATIC\n",
    ]);
    const editor = await useEditor({ ...files, ...(Object.fromEntries(many) as object) });
    const at = editor.open(routes, routesTo("w‸eb"));
    const first = editor.ask<Hover>("hover", routes, at);
    const source = new CancellationTokenSource();
    const second = editor.askUntil(source.token, "hover", routes, at);
    const rejected = expect(second).rejects.toMatchObject({
      code: LSPErrorCodes.RequestCancelled,
    });
    await editor.reached();
    source.cancel();
    await rejected;
    expect((await first).contents).toMatchObject({
      value: expect.stringContaining("web") as string,
    });
  });
});

describe("large files", () => {
  const count = Math.max(5_000, Math.round(100_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
  const large = "config/_opaque/clusters/many.yaml";
  const names = Array.from({ length: count }, (_, index) => `c${index}`);
  const padding = "#".repeat(500);
  const text = names.map((name) => `name: ${name}\ntype: STATIC\n${padding}\n`).join("---\n");

  it(`with ${count} names have suggestions that fit what is typed, and are not renamed in`, async () => {
    expect(text.length).toBeGreaterThan(2_000_000);
    const editor = await useEditor({ ...files, [large]: text });
    const at = editor.open(routes, routesTo("c4242‸"));
    const found = await editor.ask<CompletionList>("completion", routes, at);
    expect(found.isIncomplete).toBe(true);
    expect(found.items.map(({ label }: CompletionItem) => label)).toEqual(
      names.filter((name) => name.includes("c4242")),
    );
    editor.change(routes, routesTo("c42"));
    const start = performance.now();
    const inName = { line: 5, character: 23 };
    const [definition] = await editor.ask<Location[]>("definition", routes, inName);
    expect(editor.path(definition?.uri ?? "")).toBe(large);
    expect(performance.now() - start).toBeLessThan(5_000);
    await expect(editor.ask("rename", routes, inName, { newName: "x" })).rejects.toThrow(
      /many\.yaml has the name and is longer than 2,000,000 characters/,
    );
  }, 60_000);
});
