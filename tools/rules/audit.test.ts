import { describe, expect, it } from "vitest";
import { auditRules } from "./audit.ts";
import { parseRules } from "./rule-book.ts";
import type { ScopeEntry, Scopes } from "./scopes.ts";
import type { TestCase } from "./test-reports.ts";

const book = parseRules(`
## 1. Streams

- **S-A-1** The first. It has
  two lines.
  *From* somewhere. *Test* do it.
- **S-A-2** The second.
  *From* choice. *Test* none; documented.

## 2. Names

- **N-01** A name.
`);

const scopes = (rules: Readonly<Record<string, ScopeEntry>> = {}): Scopes => ({
  issues: { later: "Later: a title" },
  rules: {
    "S-A-1": { scope: ["server"] },
    "S-A-2": { scope: ["server"], documentation: true },
    "N-01": { scope: ["name"], owed: ["later"] },
    ...rules,
  },
});

const test = (title: string, status: TestCase["status"] = "passed"): TestCase => ({
  package: "p",
  title,
  status,
});

describe("parseRules()", () => {
  it("reads id, section, text and test, over several lines", () => {
    expect(book).toEqual([
      { id: "S-A-1", section: "1. Streams", text: "The first. It has two lines.", test: "do it." },
      { id: "S-A-2", section: "1. Streams", text: "The second.", test: "none; documented." },
      { id: "N-01", section: "2. Names", text: "A name." },
    ]);
  });
});

describe("auditRules()", () => {
  it("passes when each rule has a passed test, an issue that owes it, or is documentation", () => {
    const audit = auditRules(book, scopes(), [test("does it [S-A-1]")]);
    expect(audit.problems).toEqual([]);
    expect(audit.rules.map(({ state }) => state)).toEqual(["tested", "documentation", "owed"]);
    expect(audit.rules[2]?.owedBy).toEqual(["Later: a title"]);
  });

  it.each([
    ["no test names the rule", [], "S-A-1 has neither a test nor an allowed reason"],
    [
      "the only test was skipped",
      [test("does it [S-A-1]", "skipped")],
      "S-A-1: the tests that name it were skipped",
    ],
    [
      "one of its tests failed",
      [test("x [S-A-1]"), test("y [S-A-1]", "failed")],
      "S-A-1: a test that names it failed: y [S-A-1]",
    ],
    [
      "a test names an unknown rule",
      [test("x [S-A-1]"), test("y [S-A-9]")],
      "a test names S-A-9, which the book does not have: y [S-A-9]",
    ],
  ])("fails when %s", (_, tests, problem) => {
    expect(auditRules(book, scopes(), tests).problems).toEqual([problem]);
  });

  it.each([
    [
      "documentation is claimed for a rule with a test",
      { "S-A-1": { scope: ["server"], documentation: true } },
      "S-A-1 is marked as documentation, but the book states a test for it",
    ],
    [
      "an issue is unknown",
      { "N-01": { scope: ["name"], owed: ["never"] } },
      'N-01 is owed by "never", which is not a key of "issues"',
    ],
    [
      "an entry has no rule",
      { "S-B-1": { scope: ["server"] } },
      "scopes.json has S-B-1, which the book does not have",
    ],
    [
      "a scope is empty",
      { "N-01": { scope: [], owed: ["later"] } },
      "N-01: its scope must be some of server, client, relay, name",
    ],
  ] satisfies readonly (readonly [string, Readonly<Record<string, ScopeEntry>>, string])[])(
    "fails when %s",
    (_, entries, problem) => {
      expect(auditRules(book, scopes(entries), [test("x [S-A-1]")]).problems).toEqual([problem]);
    },
  );

  it("fails when a rule has no entry, or stands in the book twice", () => {
    const without = { issues: {}, rules: { "S-A-1": { scope: ["server"] } } } satisfies Scopes;
    expect(auditRules(book.slice(0, 2), without, [test("x [S-A-1]")]).problems).toEqual([
      "S-A-2 has no line in scopes.json",
      "S-A-2 has neither a test nor an allowed reason",
    ]);
    expect(auditRules([...book, ...book.slice(2)], scopes(), [test("x [S-A-1]")]).problems).toEqual(
      ["N-01 stands in the book more than once"],
    );
  });

  it("joins the variants of one test", () => {
    const [rule] = auditRules(book, scopes(), [
      test("x (sotw/ads) [S-A-1]"),
      test("x (delta/per-type) [S-A-1]"),
      test("y [S-A-1]"),
    ]).rules;
    expect(rule?.variants).toEqual(["delta/per-type", "sotw/ads"]);
    expect(rule?.tests.map(({ title, variants }) => [title, variants])).toEqual([
      ["x [S-A-1]", ["delta/per-type", "sotw/ads"]],
      ["y [S-A-1]", []],
    ]);
  });
});
