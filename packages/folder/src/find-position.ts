import type { Document, Node } from "yaml";
import { exactYaml } from "./exact-yaml.ts";
import type { JsonPath } from "./folder-problem.ts";

/** The number of characters of the longest text that is parsed only for a position. */
export const maxLength = 2_000_000;

/** A position in a text. */
export interface Position {
  /** The line, from 1. */
  readonly line: number;
  /** The column in UTF-16 units, from 1. */
  readonly column: number;
}

/**
 * Returns the position of a path in a YAML or JSON text. If the last step is a key, this is the position of the key, else that of the value.
 * If a part of the path does not exist, returns the position of its longest beginning that exists. Returns `undefined` for a text without content, and for a text above 2 MB unless a caller of {@link parsedYaml} keeps its result.
 */
export function findPosition(text: string, document: number, path: JsonPath): Position | undefined {
  return find(text, (documents) => {
    const root = documents[document];
    return root?.contents ? follow(root, root.contents, path).offset : undefined;
  });
}

/** Returns true if the whole path exists in a YAML or JSON text. Returns false for a text above 2 MB. */
export function hasPath(text: string, document: number, path: JsonPath): boolean {
  let steps = -1;
  find(text, (documents) => {
    const root = documents[document];
    if (root?.contents) ({ steps } = follow(root, root.contents, path));
    return undefined;
  });
  return steps === path.length;
}

/** The position of a text value. */
export interface TextPosition extends Position {
  /** The field with the value, with all of its parents: `virtual_hosts[0].routes[2].route.cluster`. */
  readonly field: string;
}

/** Returns the first position of each of these text values in a YAML or JSON text. Empty for a text above 2 MB. */
export function findTexts(
  text: string,
  values: ReadonlySet<string>,
): ReadonlyMap<string, TextPosition> {
  const found = new Map<string, TextPosition>();
  find(text, (documents, positionAt) => {
    for (const document of documents) {
      exactYaml().visit(document, {
        Scalar(key, node, path) {
          if (typeof node.value === "string" && values.has(node.value) && !found.has(node.value))
            found.set(node.value, {
              ...positionAt(node.range?.[0] ?? 0),
              field: fieldOf([...path, node]),
            });
        },
      });
    }
    return undefined;
  });
  return found;
}

/** Returns the path of the innermost node as text, from the keys and list indexes of the nodes around it. */
function fieldOf(nodes: readonly unknown[]): string {
  const { isCollection, isMap, isPair, isScalar } = exactYaml();
  return nodes
    .map((node, at) => {
      if (isPair(node)) return `.${String(isScalar(node.key) ? node.key.value : node.key)}`;
      const place = isCollection(node) && !isMap(node) ? node.items.indexOf(nodes[at + 1]) : -1;
      return place === -1 ? "" : `[${place}]`;
    })
    .join("")
    .replace(/^\./, "");
}

/** Returns the position of the first number that is written exactly like `source`. Numbers inside of texts are skipped. */
export function findNumber(text: string, source: string): Position | undefined {
  return find(text, (documents) => {
    let offset: number | undefined;
    for (const document of documents) {
      exactYaml().visit(document, {
        Scalar: (_, node) => {
          if (node.type === "PLAIN" && node.source === source) offset ??= node.range?.[0];
        },
      });
    }
    return offset;
  });
}

function find(
  text: string,
  offsetIn: (
    documents: readonly Document[],
    positionAt: (offset: number) => Position,
  ) => number | undefined,
): Position | undefined {
  if (text.length > maxLength && last?.deref()?.text !== text) return undefined;
  try {
    const { documents, positionAt } = parsedYaml(text);
    const offset = offsetIn(documents, positionAt);
    return offset === undefined ? undefined : positionAt(offset);
  } catch {
    return undefined; // The text is nested deeper than the stack of this parser, so the problem is shown without a position.
  }
}

/** A parsed text. */
export interface ParsedYaml {
  readonly text: string;
  readonly documents: readonly Document.Parsed[];
  readonly positionAt: (offset: number) => Position;
}

/** The text that was parsed last. Positions of one file are looked up one after another, and parsing takes much longer than looking up. The reference is weak, so that the result is not kept longer than its callers need it. */
let last: WeakRef<ParsedYaml> | undefined;

/** Returns the documents of a YAML text with their positions, also if it has errors. While a caller keeps the result, later calls with the same text return it, and positions are found in a text of any length. */
export function parsedYaml(text: string): ParsedYaml {
  const before = last?.deref();
  if (before?.text === text) return before;
  const { LineCounter, parseAllDocuments } = exactYaml();
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const result: ParsedYaml = {
    text,
    documents: "empty" in documents ? [] : documents,
    positionAt(offset) {
      const { line, col } = lineCounter.linePos(offset);
      return { line, column: col };
    },
  };
  last = new WeakRef(result);
  return result;
}

/** Follows a path as far as it exists. Returns the offset of its last step, and the number of steps. */
function follow(
  document: Document,
  root: Node,
  path: JsonPath,
): { readonly offset: number; readonly steps: number } {
  const { isAlias } = exactYaml();
  let node: unknown = root;
  let offset = root.range?.[0] ?? 0;
  let steps = 0;
  for (const step of path) {
    const next = stepInto(isAlias(node) ? node.resolve(document) : node, step);
    if (next === undefined) break;
    offset = next.offset ?? offset;
    node = next.value;
    steps++;
  }
  return { offset, steps };
}

/** Follows one step. If a single value is written in place of a list, step 0 leads to this value. */
function stepInto(
  node: unknown,
  step: string | number,
): { readonly offset?: number | undefined; readonly value: unknown } | undefined {
  const { isCollection, isMap, isPair, isScalar, isSeq } = exactYaml();
  if (step === 0 && !isSeq(node)) return { offset: startOf(node), value: node };
  if (!isCollection(node)) return undefined;
  const item = isMap(node)
    ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
    : node.items[Number(step)];
  if (isPair(item)) return { offset: startOf(item.key), value: item.value };
  return item === undefined ? undefined : { offset: startOf(item), value: item };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
