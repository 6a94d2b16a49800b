/** A rule as the book states it. */
export interface Rule {
  readonly id: string;
  /** The heading it stands under. */
  readonly section: string;
  /** The rule itself, without *From* and *Test*. */
  readonly text: string;
  /** The description of a test of it. Absent on the pages that have none. */
  readonly test?: string;
}

/** Matches a rule id wherever it stands. */
export const ruleId = /\b(?:[SBC]-[A-Z]+|N)-\d+\b/g;

const heading = /^## (.+)$/;
const item = /^- \*\*((?:[SBC]-[A-Z]+|N)-\d+)\*\* (.+)$/;

/** The rules of one page of the book, in its order. A rule is a list item that begins with its id in bold, and the lines indented below it. */
export function parseRules(markdown: string): readonly Rule[] {
  const rules: { id: string; section: string; lines: string[] }[] = [];
  let section = "";
  for (const line of markdown.split("\n")) {
    section = heading.exec(line)?.[1] ?? section;
    const [, id, text] = item.exec(line) ?? [];
    if (id !== undefined && text !== undefined) rules.push({ id, section, lines: [text] });
    else if (line.startsWith("  ")) rules.at(-1)?.lines.push(line.trim());
  }
  return rules.map(({ id, section: under, lines }) => ({
    id,
    section: under,
    ...splitRule(lines.join(" ")),
  }));
}

function splitRule(whole: string): Pick<Rule, "text" | "test"> {
  const [text = "", ...tests] = whole.split("*Test*");
  const test = tests.at(-1)?.trim();
  return { text: (text.split("*From*")[0] ?? "").trim(), ...(test === undefined ? {} : { test }) };
}

/** A rule that no test can show: its own *Test* is none. */
export function isDocumentation(rule: Rule): boolean {
  return rule.test !== undefined && /^none\b/.test(rule.test);
}
