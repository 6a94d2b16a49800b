// npm run rules -- [PREFIX] [--json] [--problems]: each rule of the book with the tests whose titles name it; with --problems only the sums and what is wrong.
// Exit 1 when a rule in force has no passed test, or a package has left no test report; 2 for wrong usage.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/root.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { auditRules } from "./audit.ts";
import { missingReports, readReports } from "./test-reports.ts";
import { parseOptions, usage, type RulesOptions } from "./options.ts";
import { printAudit } from "./print-audit.ts";
import { parseRules } from "./rule-book.ts";
import type { Scopes } from "./scopes.ts";

const options = readOptions();
if (options?.help === true) console.log(usage);
else if (options !== undefined) show(options);

function readOptions(): RulesOptions | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

function show({ json, problems, prefix }: RulesOptions): void {
  const { tests, missing } = readReports(readWorkspace(root));
  const cause = missingReports(missing);
  // Without a report every rule that its tests show would look untested.
  const audit =
    cause === undefined
      ? auditRules(readBook(), JSON.parse(readPage("scopes.json")) as Scopes, tests)
      : { rules: [], problems: [cause] };
  const shown = { ...audit, rules: audit.rules.filter(({ id }) => id.startsWith(prefix)) };
  if (json) console.log(JSON.stringify(shown, undefined, 2));
  else if (cause === undefined) console.log(printAudit(shown, { problemsOnly: problems }));
  else console.error(cause);
  process.exitCode = audit.problems.length === 0 ? 0 : 1;
}

function readBook(): ReturnType<typeof parseRules> {
  return ["protocol-rules.md", "xdstp-names.md"].flatMap((page) => parseRules(readPage(page)));
}

function readPage(name: string): string {
  return readFileSync(join(root, "docs", "rules", name), "utf8");
}
