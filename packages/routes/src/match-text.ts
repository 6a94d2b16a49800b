import type { CookieMatcher } from "@xdstp/protos/envoy/route";
import { RE2JS } from "re2js";

/** Envoy's `StringMatcher`. */
export type StringMatcher = NonNullable<CookieMatcher["stringMatch"]>;

/**
 * The result of the comparison of a text. `unknown`: an extension decides, or the regular expression
 * is not valid.
 */
export type TextMatch = "yes" | "no" | "unknown";

/**
 * Compares a text with an Envoy `StringMatcher`. A regular expression must match the whole text.
 * The comparison ignores case only if the matcher sets `ignore_case`.
 */
export function matchText(matcher: StringMatcher | undefined, text: string): TextMatch {
  const pattern = matcher?.matchPattern;
  if (matcher === undefined || pattern?.case === undefined || pattern.case === "custom")
    return "unknown";
  if (pattern.case === "safeRegex") return matchExpression(pattern.value.regex, text);
  const [value, wanted] = matcher.ignoreCase
    ? [text.toLowerCase(), pattern.value.toLowerCase()]
    : [text, pattern.value];
  return matchers[pattern.case](value, wanted) ? "yes" : "no";
}

const matchers = {
  exact: (text: string, wanted: string) => text === wanted,
  prefix: (text: string, wanted: string) => text.startsWith(wanted),
  suffix: (text: string, wanted: string) => text.endsWith(wanted),
  contains: (text: string, wanted: string) => text.includes(wanted),
} as const;

/** Returns `yes` if an RE2 regular expression matches the whole text. */
export function matchExpression(regex: string, text: string): TextMatch {
  const expression = expressionOf(regex);
  if (expression === undefined) return "unknown";
  return expression.matches(text) ? "yes" : "no";
}

/**
 * Replaces each match of an RE2 regular expression, as `regex_rewrite` does.
 *
 * @param substitution - The replacement, where `\1` is the first group, `\0` the match, and `\\` a
 * backslash. If it names a group that the expression does not have, the text stays as it is
 *
 * @returns The new text, or undefined if the expression is not valid
 */
export function replaceExpression(
  regex: string,
  text: string,
  substitution: string,
): string | undefined {
  const expression = expressionOf(regex);
  if (expression === undefined) return undefined;
  const named = Array.from(substitution.matchAll(/\\(\d)/g), ([, digit]) => Number(digit));
  if (Math.max(...named) > expression.groupCount()) return text;
  const matcher = expression.matcher(text);
  let replaced = "";
  let end = 0;
  let isFirst = true;
  while (matcher.find()) {
    // In RE2, unlike in Java, an empty text right after a match is not a match.
    if (!isFirst && matcher.end() === end && matcher.start() === end) continue;
    replaced += text.slice(end, matcher.start());
    replaced += substitution.replace(/\\(\d|\\)/g, (_, which: string) =>
      which === "\\" ? which : (matcher.group(Number(which)) ?? ""),
    );
    end = matcher.end();
    isFirst = false;
  }
  return replaced + text.slice(end);
}

function expressionOf(regex: string): RE2JS | undefined {
  try {
    return RE2JS.compile(regex);
  } catch {
    return undefined;
  }
}

/** Describes the texts that a `StringMatcher` accepts. */
export function describeText(matcher: StringMatcher | undefined): string {
  const pattern = matcher?.matchPattern;
  if (pattern?.case === undefined) return "an empty matcher";
  if (pattern.case === "custom") return `the extension ${pattern.value.name}`;
  if (pattern.case === "safeRegex") return `the expression ${quote(pattern.value.regex)}`;
  return `${words[pattern.case]}${quote(pattern.value)}${matcher?.ignoreCase === true ? " in any case" : ""}`;
}

const words = {
  exact: "",
  prefix: "the prefix ",
  suffix: "the suffix ",
  contains: "a text that contains ",
} as const;

/** Returns a text of a configuration or a request in quotation marks, for messages. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
