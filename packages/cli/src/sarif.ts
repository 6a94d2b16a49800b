import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type FolderProblem, problemCodes } from "@xdstp/folder";
import { ownManifest } from "./process-io.ts";

/** A problem, and its severity. */
export type Found = FolderProblem & { readonly severity: "error" | "warning" };

/** Returns the problems as a SARIF 2.1.0 log, for code scanning and editors. Paths are relative to `cwd`; files outside of it have absolute URIs. */
export function sarifLog(found: readonly Found[], cwd: string): object {
  const { version, repository } = ownManifest();
  const home = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  const codes = Object.entries(problemCodes);
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "xdstp",
            semanticVersion: version,
            informationUri: home,
            rules: codes.map(([code, { severity, summary }]) => ({
              id: code,
              shortDescription: { text: summary },
              helpUri: `${home}/blob/main/docs/checks/${code}.md`,
              defaultConfiguration: { level: severity },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: found.map((one) => ({
          ruleId: one.code,
          ruleIndex: codes.findIndex(([code]) => code === one.code),
          level: one.severity,
          message: { text: one.hint === undefined ? one.message : `${one.message} (${one.hint})` },
          locations: [{ physicalLocation: physicalLocation(one, cwd) }],
          ...(one.rule !== undefined && { properties: { rule: one.rule } }),
        })),
      },
    ],
  };
}

function physicalLocation({ file, line, column }: Found, cwd: string): object {
  const path = relative(cwd, file);
  const isOutside = isAbsolute(path) || path.split(sep)[0] === "..";
  const uri = isOutside
    ? pathToFileURL(file).href
    : path.split(sep).map(encodeURIComponent).join("/") || ".";
  return {
    artifactLocation: { uri },
    ...(line !== undefined && {
      region: { startLine: line, ...(column !== undefined && { startColumn: column }) },
    }),
  };
}
