import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readWorkspace } from "../lib/workspace.ts";

/** Returns the declarations of an API report without a doc comment, as API Extractor marks them. */
export function undocumentedIn(report: string): readonly string[] {
  return [...report.matchAll(/\/\/ (?:@public )?\(undocumented\)\n\s*(.+)/g)].map(
    (match) => match[1] ?? "",
  );
}

/** True when everything in the API reports has a doc comment; else prints what has none. */
export function checkDocumented(root: string): boolean {
  const reports = readWorkspace(root).flatMap(({ folder }) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".api.md"))
      .map((file) => join(folder, file)),
  );
  const problems = reports.flatMap((file) =>
    undocumentedIn(readFileSync(file, "utf8")).map(
      (declaration) => `${file}: no doc comment for: ${declaration}`,
    ),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length === 0)
    console.log(`everything in ${reports.length} API reports has a doc comment`);
  return problems.length === 0;
}
