import { type Rule, isDocumentation, ruleId } from "./rule-book.ts";
import { type RuleScope, type Scopes, checkScopes } from "./scopes.ts";
import type { TestCase } from "./test-reports.ts";

/** A test that names a rule, over all variants in which it ran. */
export interface NamedTest {
  readonly package: string;
  /** Without its variants. */
  readonly title: string;
  readonly status: TestCase["status"];
  /** Such as `delta/ads`; empty where no stream is involved. */
  readonly variants: readonly string[];
}

/** The state of a rule. `missing` and `failed` fail the audit. */
export type RuleState = "tested" | "failed" | "missing" | "owed" | "documentation";

/** One rule with all that is known about it. */
export interface AuditedRule {
  readonly id: string;
  readonly section: string;
  readonly scope: readonly RuleScope[];
  readonly state: RuleState;
  /** Titles of the issues that owe it, or a part of it. */
  readonly owedBy: readonly string[];
  readonly tests: readonly NamedTest[];
  readonly variants: readonly string[];
}

/** The whole audit. It has passed when `problems` is empty. */
export interface Audit {
  readonly rules: readonly AuditedRule[];
  readonly problems: readonly string[];
}

const variant = /\(((?:delta|sotw)\/(?:ads|per-type))\)/g;

/** Holds the book, its scopes and the tests of the last runs against each other. */
export function auditRules(
  rules: readonly Rule[],
  scopes: Scopes,
  tests: readonly TestCase[],
): Audit {
  const byRule = testsByRule(tests);
  const audited = rules.map((rule) =>
    auditRule(rule, scopes, mergeVariants(byRule.get(rule.id) ?? [])),
  );
  const known = new Set(rules.map(({ id }) => id));
  return {
    rules: audited,
    problems: [
      ...checkScopes(rules, scopes),
      ...[...byRule]
        .filter(([id]) => !known.has(id))
        .map(
          ([id, named]) =>
            `a test names ${id}, which the book does not have: ${named[0]?.title ?? ""}`,
        ),
      ...audited.flatMap(problemOf),
    ],
  };
}

function testsByRule(tests: readonly TestCase[]): ReadonlyMap<string, readonly TestCase[]> {
  const byRule = new Map<string, TestCase[]>();
  for (const test of tests) {
    for (const id of new Set(test.title.match(ruleId)))
      byRule.set(id, [...(byRule.get(id) ?? []), test]);
  }
  return byRule;
}

function mergeVariants(tests: readonly TestCase[]): readonly NamedTest[] {
  const merged = new Map<string, NamedTest>();
  for (const test of tests) {
    const title = test.title.replace(variant, "").replace(/\s+/g, " ").trim();
    const key = `${test.package} ${title} ${test.status}`;
    const variants = [...test.title.matchAll(variant)].map((match) => match[1] ?? "");
    merged.set(key, {
      package: test.package,
      title,
      status: test.status,
      variants: union(merged.get(key)?.variants, variants),
    });
  }
  return [...merged.values()];
}

function union(left: readonly string[] = [], right: readonly string[] = []): readonly string[] {
  return [...new Set([...left, ...right])].sort();
}

function auditRule(rule: Rule, scopes: Scopes, tests: readonly NamedTest[]): AuditedRule {
  const entry = scopes.rules[rule.id] ?? { scope: [] };
  return {
    id: rule.id,
    section: rule.section,
    scope: entry.scope,
    state: stateOf(rule, entry, tests),
    owedBy: [...(entry.owed ?? []), ...(entry.owedInPart ?? [])].map(
      (issue) => scopes.issues[issue] ?? issue,
    ),
    tests,
    variants: tests
      .filter(({ status }) => status === "passed")
      .reduce<readonly string[]>((all, { variants }) => union(all, variants), []),
  };
}

function stateOf(
  rule: Rule,
  entry: Scopes["rules"][string],
  tests: readonly NamedTest[],
): RuleState {
  if (tests.some(({ status }) => status === "failed")) return "failed";
  if (entry.owed !== undefined) return "owed";
  if (tests.some(({ status }) => status === "passed")) return "tested";
  return entry.documentation === true && isDocumentation(rule) ? "documentation" : "missing";
}

function problemOf({ id, state, tests }: AuditedRule): readonly string[] {
  if (state === "failed")
    return [
      `${id}: a test that names it failed: ${tests.find(({ status }) => status === "failed")?.title ?? ""}`,
    ];
  if (state !== "missing") return [];
  return [
    tests.length === 0
      ? `${id} has neither a test nor an allowed reason`
      : `${id}: the tests that name it were skipped`,
  ];
}
