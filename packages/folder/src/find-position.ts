import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from "yaml";
import type { JsonPath } from "./folder-problem.ts";

/** A longer text is not parsed for a position alone. */
export const maxLength = 2_000_000;

/** A place in a text. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/**
 * A place in a YAML or JSON text: the key where the path ends in one, else the value.
 * Where the path cannot be followed to its end, the deepest place that exists. undefined for a text above 2 MB of which nothing keeps the parsed form, and for one without content.
 */
export function findPosition(text: string, document: number, path: JsonPath): Position | undefined {
  return find(text, (documents) => {
    const root = documents[document];
    return root?.contents ? follow(root, root.contents, path).offset : undefined;
  });
}

/** Whether a path can be followed to its end in a YAML or JSON text. false for a text above 2 MB. */
export function hasPath(text: string, document: number, path: JsonPath): boolean {
  let steps = -1;
  find(text, (documents) => {
    const root = documents[document];
    if (root?.contents) ({ steps } = follow(root, root.contents, path));
    return undefined;
  });
  return steps === path.length;
}

/** Where a text value stands. */
export interface TextPosition extends Position {
  /** The field that holds it, with all that it lies in: `virtual_hosts[0].routes[2].route.cluster`. */
  readonly field: string;
}

/** The first place of each of these text values in a YAML or JSON text. Empty for a text above 2 MB. */
export function findTexts(
  text: string,
  values: ReadonlySet<string>,
): ReadonlyMap<string, TextPosition> {
  const found = new Map<string, TextPosition>();
  find(text, (documents, positionAt) => {
    for (const document of documents) {
      visit(document, {
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

/** Of what a value lies in, the keys and places. */
function fieldOf(nodes: readonly unknown[]): string {
  return nodes
    .map((node, at) => {
      if (isPair(node)) return `.${String(isScalar(node.key) ? node.key.value : node.key)}`;
      const place = isCollection(node) && !isMap(node) ? node.items.indexOf(nodes[at + 1]) : -1;
      return place === -1 ? "" : `[${place}]`;
    })
    .join("")
    .replace(/^\./, "");
}

/** The first number that is written so, not as a part of another text. */
export function findNumber(text: string, source: string): Position | undefined {
  return find(text, (documents) => {
    let offset: number | undefined;
    for (const document of documents) {
      visit(document, {
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
    return undefined; // Nested deeper than the stack of this parser: the problem is shown without a position.
  }
}

/** A text and what the parser makes of it. */
export interface ParsedYaml {
  readonly text: string;
  readonly documents: readonly Document.Parsed[];
  readonly positionAt: (offset: number) => Position;
}

/** The problems of one file are looked up one after another, and a parse takes much longer than they do. Weak, so that it is kept for no longer. */
let last: WeakRef<ParsedYaml> | undefined;

/** Returns the documents of a YAML text with their places, also where it has errors. While a caller keeps the result, later calls with the same text return it, and positions in it are found however long it is. */
export function parsedYaml(text: string): ParsedYaml {
  const before = last?.deref();
  if (before?.text === text) return before;
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

/** The deepest place on a path, and how many steps lead to it. */
function follow(
  document: Document,
  root: Node,
  path: JsonPath,
): { readonly offset: number; readonly steps: number } {
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

/** The first step into a single value in the place of a list is the value itself. */
function stepInto(
  node: unknown,
  step: string | number,
): { readonly offset?: number | undefined; readonly value: unknown } | undefined {
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
