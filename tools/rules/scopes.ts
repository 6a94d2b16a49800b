import type { Rule } from "./rule-book.ts";
import { isDocumentation } from "./rule-book.ts";

/** The subject of a rule. */
export type RuleScope = "server" | "client" | "relay" | "name";

/** One line of `docs/rules/scopes.json`. */
export interface ScopeEntry {
  readonly scope: readonly RuleScope[];
  readonly documentation?: boolean;
  /** Keys of {@link Scopes.issues}. */
  readonly owed?: readonly string[];
  /** The same, for a part of the rule. */
  readonly owedInPart?: readonly string[];
}

/** `docs/rules/scopes.json`. */
export interface Scopes {
  /** Titles of the issues that owe something, by key. */
  readonly issues: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, ScopeEntry>>;
}

const known: readonly string[] = [
  "server",
  "client",
  "relay",
  "name",
] satisfies readonly RuleScope[];

/** Returns the problems between the rule book and its scopes: each rule has exactly one entry, each entry a rule, a scope and issues that exist. */
export function checkScopes(rules: readonly Rule[], scopes: Scopes): readonly string[] {
  const counts = new Map<string, number>();
  for (const { id } of rules) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [
    ...[...counts]
      .filter(([, count]) => count > 1)
      .map(([id]) => `${id} stands in the book more than once`),
    ...Object.keys(scopes.rules)
      .filter((id) => !counts.has(id))
      .map((id) => `scopes.json has ${id}, which the book does not have`),
    ...rules.flatMap((rule) => checkEntry(rule, scopes)),
  ];
}

function checkEntry(rule: Rule, scopes: Scopes): readonly string[] {
  const entry = scopes.rules[rule.id];
  if (entry === undefined) return [`${rule.id} has no line in scopes.json`];
  const problems: string[] = [];
  if (entry.scope.length === 0 || entry.scope.some((scope) => !known.includes(scope)))
    problems.push(`${rule.id}: its scope must be some of ${known.join(", ")}`);
  for (const issue of [...(entry.owed ?? []), ...(entry.owedInPart ?? [])]) {
    if (!(issue in scopes.issues))
      problems.push(`${rule.id} is owed by "${issue}", which is not a key of "issues"`);
  }
  if (entry.documentation === true && !isDocumentation(rule))
    problems.push(`${rule.id} is marked as documentation, but the book states a test for it`);
  return problems;
}
