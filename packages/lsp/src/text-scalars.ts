import { isPair, parseAllDocuments, visit } from "yaml";

/** A value in a YAML or JSON text that is written in one piece; keys are not values. */
export interface TextScalar {
  readonly value: string;
  /** Its begin and end in the text, quotes included. */
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
  /** An alias in another place takes the value from here. */
  readonly isAliased: boolean;
}

/** Returns the values of a text in their order, as far as the text can be parsed. Blocks of several lines are left out. */
export function scalarsIn(text: string): readonly TextScalar[] {
  const found: TextScalar[] = [];
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" });
  for (const document of "empty" in documents ? [] : documents) {
    const aliased = new Set<string>();
    visit(document, {
      Alias(_, { source }) {
        aliased.add(source);
      },
    });
    visit(document, {
      Scalar(key, { value, range, type, anchor }, path) {
        const isKey = key === "key" && isPair(path.at(-1));
        const isBlock = type === "BLOCK_FOLDED" || type === "BLOCK_LITERAL";
        if (typeof value !== "string" || isKey || isBlock || !range) return;
        const isQuoted = type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE";
        const isAliased = anchor !== undefined && aliased.has(anchor);
        found.push({ value, start: range[0], end: range[1], isQuoted, isAliased });
      },
    });
  }
  return found;
}

/** The value at a place of a text, its end included. undefined: there is none. */
export function scalarAt(text: string, offset: number): TextScalar | undefined {
  return scalarsIn(text).find(({ start, end }) => start <= offset && offset <= end);
}

/** The line of a text, from 0, on which its content begins. */
export function firstLine(text: string): number {
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" });
  const start = "empty" in documents ? 0 : (documents[0]?.contents?.range[0] ?? 0);
  return text.slice(0, start).split("\n").length - 1;
}

/** The text of a value in the place of another one. */
export function written(value: string, { isQuoted }: Pick<TextScalar, "isQuoted">): string {
  const isPlain = /^[A-Za-z_][\w./:@*?=&-]*$/.test(value) && !value.endsWith(":");
  const isWord = /^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isQuoted || !isPlain || isWord ? JSON.stringify(value) : value;
}

/** The text with another value in the place of one. */
export function withScalar(text: string, scalar: TextScalar, value: string): string {
  return text.slice(0, scalar.start) + written(value, scalar) + text.slice(scalar.end);
}
