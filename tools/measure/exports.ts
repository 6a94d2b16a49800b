/** The number of exports in API reports. */
export interface ExportCounts {
  /** All exports of all entry points. */
  readonly all: number;
  /** Symbols that the package itself declares, each once however many entry points export it. */
  readonly own: number;
}

/** Counts what a package exports, from the text of each of its API reports. */
export function countExports(reports: readonly string[]): ExportCounts {
  const exported = reports.flatMap((report) => report.match(/^export .*/gm) ?? []);
  const declared = exported.flatMap(
    (line) =>
      /^export (?:abstract )?(?:interface|type|function|const|class) (\w+)/.exec(line)?.[1] ?? [],
  );
  return { all: exported.length, own: new Set(declared).size };
}
