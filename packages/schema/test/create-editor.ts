import { TextDocument } from "vscode-languageserver-textdocument";
import { getLanguageService } from "yaml-language-server";
import type { JsonSchema } from "../src/index.ts";

/** An editor with yaml-language-server, in which one schema is for all files. */
export interface Editor {
  /** Diagnostics as `line: message`, with lines from 1. */
  problemsIn(text: string): Promise<readonly string[]>;
  /** Resolves with the suggestions at the mark `‸`. */
  suggestionsAt(text: string): Promise<readonly string[]>;
  /** Resolves with the descriptions of the suggestions at the mark `‸`, by name. */
  descriptionsAt(text: string): Promise<ReadonlyMap<string, string>>;
  /** Resolves with the hover text of the word behind the mark `‸`. */
  hoverAt(text: string): Promise<string>;
}

/** All servers of a process share the documents that they have parsed, by address and version. */
let version = 0;

const root = "file:///schemas/root.json";

/** Makes an {@link Editor}. `others`: schemas to which the schema refers, by the names of their files. */
export function createEditor(
  schema: JsonSchema,
  others: Readonly<Record<string, JsonSchema>> = {},
): Editor {
  const service = getLanguageService({
    schemaRequestService: async (uri) =>
      Promise.resolve(JSON.stringify(others[uri.slice(uri.lastIndexOf("/") + 1)])),
    workspaceContext: { resolveRelativePath: (path, base) => new URL(path, base).href },
  });
  service.configure({
    validate: true,
    hover: true,
    completion: true,
    hoverSchemaSource: false,
    schemas: [{ uri: root, fileMatch: ["*"], schema: structuredClone(schema) }],
  });
  const open = (text: string): TextDocument =>
    TextDocument.create("file:///a.yaml", "yaml", ++version, text);
  const openAtMark = (
    text: string,
  ): readonly [TextDocument, { line: number; character: number }] => {
    const document = open(text.replace("‸", ""));
    return [document, document.positionAt(text.indexOf("‸"))];
  };
  return {
    async problemsIn(content) {
      const found = await service.doValidation(open(content), false);
      return found.map(({ range, message }) => {
        const text = typeof message === "string" ? message : message.value;
        return `${range.start.line + 1}: ${text}`;
      });
    },
    async suggestionsAt(text) {
      const { items } = await service.doComplete(...openAtMark(text), false);
      return items.map(
        ({ insertText, label }) =>
          (/^[\w@./]+$/.test(insertText ?? "") ? insertText : undefined) ?? label,
      );
    },
    async descriptionsAt(text) {
      const { items } = await service.doComplete(...openAtMark(text), false);
      return new Map(
        items.map(({ label, documentation = "" }) => [
          label,
          typeof documentation === "string" ? documentation : documentation.value,
        ]),
      );
    },
    async hoverAt(text) {
      const hover = await service.doHover(...openAtMark(text));
      const contents = hover?.contents;
      return typeof contents === "object" && "value" in contents ? contents.value : "";
    },
  };
}
