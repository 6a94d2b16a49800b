import type { Audit, AuditedRule, NamedTest, RuleState } from "./audit.ts";

const states: readonly RuleState[] = ["tested", "owed", "documentation", "missing", "failed"];

/** The audit as text: a row for each rule, below it its tests, at the end the sums and what is wrong. */
export function printAudit(
  audit: Audit,
  { problemsOnly }: { readonly problemsOnly: boolean },
): string {
  const sections = Map.groupBy(audit.rules, ({ section }) => section);
  const blocks = [...sections].map(([section, rules]) =>
    [section, ...rules.flatMap(printRule)].join("\n"),
  );
  return [
    ...(problemsOnly ? [] : blocks),
    printSums(audit.rules),
    ...printProblems(audit.problems),
  ].join("\n\n");
}

function printRule(rule: AuditedRule): readonly string[] {
  const owed =
    rule.owedBy.length === 0
      ? ""
      : `${rule.state === "owed" ? "" : "part of it: "}${rule.owedBy.join("; ")}`;
  const row = [
    rule.id.padEnd(12),
    rule.scope.join(", ").padEnd(14),
    rule.state.padEnd(13),
    rule.variants.join(" "),
    owed,
  ];
  return [
    `  ${row.filter((cell) => cell !== "").join("  ")}`.trimEnd(),
    ...rule.tests.map(printTest),
  ];
}

function printTest(test: NamedTest): string {
  const variants = test.variants.length === 0 ? "" : ` (${test.variants.join(", ")})`;
  return `      ${test.status === "passed" ? "ok" : test.status} ${test.package}: ${test.title}${variants}`;
}

function printSums(rules: readonly AuditedRule[]): string {
  const sums = states.map(
    (state) => `${String(rules.filter((rule) => rule.state === state).length)} ${state}`,
  );
  return `${String(rules.length)} rules: ${sums.join(", ")}`;
}

function printProblems(problems: readonly string[]): readonly string[] {
  return problems.length === 0
    ? []
    : [
        `${String(problems.length)} problems:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
      ];
}
