import { createRequire } from "node:module";
import type { parse } from "@bufbuild/cel";

const require = createRequire(import.meta.url);
let parser: typeof parse | undefined;

/** Returns the fault of an expression of CEL, as the predicate of a sentence about it. undefined: it is valid. */
export function celFault(text: string): string | undefined {
  // It is loaded where there is an expression only.
  parser ??= (require("@bufbuild/cel") as { readonly parse: typeof parse }).parse;
  try {
    const parsed = parser(`${withoutBackticks(text)}\n`); // A comment needs an end.
    return hasComprehension(parsed)
      ? "goes through a list (all, exists, exists_one, filter or map), which Envoy does not do"
      : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    const [, line, column] = /^<input>:(\d+):(\d+):/.exec(reason) ?? [];
    if (line === undefined || column === undefined) return "is not an expression of CEL";
    const at = line === "1" ? "" : `line ${line}, `;
    return `is not an expression of CEL: see ${at}character ${column}`;
  }
}

/** Returns true if a part of a parsed expression is evaluated for each item of a list or key of a map. */
function hasComprehension(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("case" in part && part.case === "comprehensionExpr") return true;
  return Object.values(part).some(hasComprehension);
}

const unescaped = [`"""[^]*?"""`, `'''[^]*?'''`, `"[^"\\n]*"`, `'[^'\\n]*'`];
const escaped = [
  String.raw`"""(?:\\[^]|[^])*?"""`,
  String.raw`'''(?:\\[^]|[^])*?'''`,
  String.raw`"(?:\\.|[^"\\\n])*"`,
  String.raw`'(?:\\.|[^'\\\n])*'`,
];
/** Texts and comments; or a dot and a name in backticks, which is not that of a function. */
const parts = new RegExp(
  [
    `(?:[rR][bB]?|[bB][rR])(?:${unescaped.join("|")})`,
    ...escaped,
    "//.*",
    String.raw`(\.\s*)(${"`"}[\w./ -]+${"`"})(?!\s*\()`,
  ].join("|"),
  "g",
);

/** An expression with names of the same length that need no backticks, so that places stay what they are. */
function withoutBackticks(text: string): string {
  if (!text.includes("`")) return text;
  return text.replaceAll(parts, (all: string, dot: string | undefined, name = "") =>
    dot === undefined ? all : `${dot}${"x".repeat(String(name).length)}`,
  );
}
