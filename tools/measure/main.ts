// npm run measure [-- --json | --list | --check | --calls]: the size of the sources of the published packages, functions, exports, import cycles, and unclear phrases.
// --calls: what a drain, an intake of a client and a change through a relay call in other packages. --list: the place of each cycle and phrase. --check: exit 1 if a count differs from its ceiling (ceilings.json).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/root.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { type Ceilings, differences } from "./ceilings.ts";
import { countExports, type ExportCounts } from "./exports.ts";
import { importCycles } from "./import-cycles.ts";
import { measureSource } from "./measure-source.ts";
import { countPhrases, phrasesIn } from "./phrases.ts";
import { readDocuments, readSources } from "./source-files.ts";

const ceilings = JSON.parse(
  readFileSync(join(import.meta.dirname, "ceilings.json"), "utf8"),
) as Ceilings;
const files = readSources(root);
const documents = readDocuments(root);
const measured = files.map(({ text }) => measureSource(text));
const lines = measured.reduce((sum, file) => sum + file.lines, 0);
const characters = measured.reduce((sum, file) => sum + file.characters, 0);
const phrases = countPhrases([...files, ...documents].map(({ text }) => text));
const cycles = await importCycles(root);
const exported = exportsByPackage();

const measures = {
  files: files.length,
  lines,
  linesPerFile: spread(measured.map((file) => file.lines)),
  functions: measured.reduce((sum, file) => sum + file.functions.length, 0),
  linesPerFunction: spread(measured.flatMap((file) => file.functions)),
  charactersPerLine: Math.round(characters / lines),
  exports: Object.fromEntries(exported.map(([name, { all }]) => [name, all])),
  distinctExports: exported
    .filter(([name]) => name !== "@xdstp/protos")
    .reduce((sum, [, { own }]) => sum + own, 0),
  filesInImportCycles: cycles.length,
  phrases: Object.fromEntries([...phrases].map(([{ instead }, count]) => [instead, count])),
  allPhrases: [...phrases.values()].reduce((sum, count) => sum + count, 0),
};
const [flag] = process.argv.slice(2);
if (flag === "--check") check();
else if (flag === "--calls") await import("./calls/main.ts");
else
  console.log(
    flag === "--json" ? JSON.stringify(measures) : flag === "--list" ? listed() : printed(),
  );

function check(): void {
  const found = differences(measures, ceilings);
  for (const line of found) console.error(line);
  if (found.length > 0) process.exitCode = 1;
}

function listed(): string {
  const places = [...files, ...documents].flatMap(({ path, text }) =>
    phrasesIn(text).map((found) => `${path}:${found}`),
  );
  return [...cycles.map((path) => `${path}: import cycle`), ...places].join("\n");
}

/** Returns the median, the 90th percentile and the maximum. */
function spread(numbers: readonly number[]): readonly [median: number, p90: number, most: number] {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  return [at(0.5), at(0.9), at(1)];
}

/** Returns what each published package exports, from its API reports. */
function exportsByPackage(): readonly (readonly [name: string, counts: ExportCounts])[] {
  const packages = readWorkspace(root).filter(({ isPublic }) => isPublic);
  return packages.map(({ name, folder }) => {
    const reports = readdirSync(folder).filter((file) => file.endsWith(".api.md"));
    return [name, countExports(reports.map((file) => readFileSync(join(folder, file), "utf8")))];
  });
}

function printed(): string {
  const { linesPerFile, linesPerFunction, exports, phrases: counts } = measures;
  const rows: (readonly [string, string])[] = [
    ["files", String(measures.files)],
    ["lines of code", String(measures.lines)],
    ["  per file (median, 90 %, most)", linesPerFile.join(", ")],
    ["functions", String(measures.functions)],
    ["  lines (median, 90 %, most)", linesPerFunction.join(", ")],
    ["characters per line", String(measures.charactersPerLine)],
    ["files in import cycles", String(measures.filesInImportCycles)],
    ["exports", String(Object.values(exports).reduce((sum, count) => sum + count, 0))],
    ["  distinct, without protos and re-exports", String(measures.distinctExports)],
    ...Object.entries(exports).map(([name, count]) => [`  ${name}`, String(count)] as const),
    ["phrases to replace", String(measures.allPhrases)],
    ...Object.entries(counts).map(
      ([instead, count]) => [`  by: ${instead}`, String(count)] as const,
    ),
  ];
  return rows.map(([name, value]) => `${name.padEnd(42)} ${value}`).join("\n");
}
