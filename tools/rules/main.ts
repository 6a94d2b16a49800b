// pnpm rules [PREFIX] [--json] [--problems]: each rule of the book with the tests whose titles name it; with --problems only the sums and what is wrong.
// Exit 1 when a rule in force has no passed test.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../lib/root.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { type Audit, auditRules } from "./audit.ts";
import { printAudit } from "./print-audit.ts";
import { parseRules } from "./rule-book.ts";
import type { Scopes } from "./scopes.ts";
import { readReports } from "./test-reports.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean", default: false }, problems: { type: "boolean", default: false } } });
const audit = auditCheckout();
const shown = { ...audit, rules: audit.rules.filter(({ id }) => id.startsWith(positionals[0] ?? "")) };
console.log(values.json ? JSON.stringify(shown, undefined, 2) : printAudit(shown, { problemsOnly: values.problems }));
process.exitCode = audit.problems.length === 0 ? 0 : 1;

function auditCheckout(): Audit {
  const book = ["protocol-rules.md", "xdstp-names.md"].flatMap((page) => parseRules(readPage(page)));
  const reports = readReports(readWorkspace(root));
  const found = auditRules(book, JSON.parse(readPage("scopes.json")) as Scopes, reports.tests);
  return { ...found, problems: [...reports.missing.map((name) => `${name} left no test report: run npm test first`), ...found.problems] };
}

function readPage(name: string): string {
  return readFileSync(join(root, "docs", "rules", name), "utf8");
}
