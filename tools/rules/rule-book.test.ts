import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../lib/root.ts";
import { parseRules, ruleId } from "./rule-book.ts";
import { type Scopes, checkScopes } from "./scopes.ts";

const read = (page: string): string => readFileSync(join(root, "docs/rules", page), "utf8");
const pages = ["protocol-rules.md", "xdstp-names.md"].map(read);
const book = pages.flatMap(parseRules);

describe("the rule book", () => {
  it("accounts for every rule exactly once", () => {
    expect(checkScopes(book, JSON.parse(read("scopes.json")) as Scopes)).toEqual([]);
  });

  it("has every id that stands in bold as a rule", () => {
    const bold = pages.flatMap((page) =>
      [...page.matchAll(/\*\*([SBCN]-[A-Z0-9-]+)\*\*/g)].map((match) => match[1]),
    );
    expect(book.map(({ id }) => id)).toEqual(bold);
  });

  it("refers to no rule that it does not have", () => {
    const known = new Set(book.map(({ id }) => id));
    expect(
      [...new Set(pages.flatMap((page) => page.match(ruleId) ?? []))].filter(
        (id) => !known.has(id),
      ),
    ).toEqual([]);
  });

  it("states a test for each rule of the protocol", () => {
    expect(
      parseRules(read("protocol-rules.md")).filter(({ test }) => test === undefined || test === ""),
    ).toEqual([]);
  });
});
