import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Document, Node, Scalar, YAMLMap } from "yaml";
import { exactYaml } from "./exact-yaml.ts";
import { type ParsedYaml, parsedYaml, type Position } from "./find-position.ts";
import { Fault, type FolderProblem, reasonOf, tooDeep } from "./folder-problem.ts";
import { yamlFault } from "./parse-document.ts";

/** A YAML text as Envoy reads it. */
export interface EnvoyYaml {
  /** The parsed text. The caller keeps it while it needs positions in the text. Absent: the text is not YAML. */
  readonly parsed?: ParsedYaml | undefined;
  /** `undefined`: the text is empty. */
  readonly value: JsonValue | undefined;
  /** Parts of the text that Envoy ignores. */
  readonly warnings: readonly (Position & Pick<FolderProblem, "code" | "message">)[];
}

/**
 * Reads the first document of a YAML text as Envoy reads its own configuration. This is YAML 1.1 with differences: numbers other than small integers are texts, the last of equal keys is used, and keys with the tag `!ignore` are left out.
 * Throws a fault with a position for a text that is not YAML.
 */
export function parseEnvoyYaml(text: string): EnvoyYaml {
  try {
    const parsed = parsedYaml(text);
    const { documents, positionAt } = parsed;
    const [first, second] = documents;
    const [error] = first?.errors ?? [];
    if (error?.message.includes("call stack") === true) throw tooDeep(positionAt(error.pos[0]));
    if (first !== undefined && error !== undefined)
      throw yamlFault({ message: error.message, pos: rangeOf(error, first) }, positionAt);
    if (first === undefined) return { parsed, value: undefined, warnings: [] };
    const repeated: (readonly [key: string, offset: number])[] = [];
    const reading: Reading = { document: first, values: new Map(), repeated, positionAt };
    const value = first.contents === null ? undefined : valueOf(first.contents, reading);
    const later =
      second === undefined ? [] : [["extra-document", secondMessage, second.range[0]] as const];
    return {
      parsed,
      value,
      warnings: [
        ...repeated.map(
          ([key, at]) =>
            ["repeated-key", `${key} occurs again; Envoy reads the last one`, at] as const,
        ),
        ...later,
      ].map(([code, message, offset]) => ({ ...positionAt(offset), code, message })),
    };
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof RangeError) throw tooDeep({ path: [] });
    throw new Fault({ code: "syntax", message: `is not valid YAML: ${reasonOf(error)}` });
  }
}

/** The place of an error. A text without its closing quote goes on to the end of the file; the place where it opens says more. */
function rangeOf(
  { message, pos }: { readonly message: string; readonly pos: readonly [number, number] },
  document: Document,
): readonly [number, number] {
  if (!message.startsWith("Missing closing")) return pos;
  let opening: number | undefined;
  exactYaml().visit(document, {
    Scalar(_, { type, range }) {
      if (type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE") opening = range?.[0];
    },
  });
  return opening === undefined ? pos : [opening, opening + 1];
}

const secondMessage = "is a second document; Envoy reads the first one only";

interface Reading {
  readonly document: Document;
  /** The values of nodes that aliases may refer to, so that each node is read once. `undefined`: the node is being read. */
  readonly values: Map<Node, JsonValue | undefined>;
  readonly repeated: (readonly [key: string, offset: number])[];
  readonly positionAt: (offset: number) => Position;
}

function valueOf(node: unknown, reading: Reading): JsonValue {
  const { isAlias, isMap, isScalar, isSeq } = exactYaml();
  const meant = isAlias(node) ? node.resolve(reading.document) : node;
  if (isAlias(node) && meant === undefined)
    throw new Fault({
      code: "syntax",
      message: "is not valid YAML: an alias has no anchor; put a text that begins with * in quotes",
      ...reading.positionAt(node.range?.[0] ?? 0),
    });
  if (isScalar(meant)) return scalarOf(meant);
  if (!isMap(meant) && !isSeq(meant)) return null;
  if (reading.values.has(meant)) {
    const known = reading.values.get(meant);
    if (known === undefined)
      throw new Fault({ code: "syntax", message: "has an alias (*name) within its own anchor" });
    return known;
  }
  reading.values.set(meant, undefined);
  const value = isSeq(meant)
    ? meant.items.map((item) => valueOf(item, reading))
    : objectOf(meant, reading);
  reading.values.set(meant, value);
  return value;
}

function objectOf({ items }: YAMLMap, reading: Reading): JsonObject {
  const { isAlias, isNode, isScalar } = exactYaml();
  const entries = new Map<string, JsonValue>();
  for (const { key, value } of items) {
    const node = isAlias(key) ? key.resolve(reading.document) : key;
    if (isNode(node) && node.tag === "!ignore") continue;
    const name = isScalar(node) ? (node.source ?? String(node.value)) : String(node);
    if (entries.has(name)) reading.repeated.push([name, (key as Node).range?.[0] ?? 0]);
    entries.set(name, valueOf(value, reading));
  }
  return Object.fromEntries(entries);
}

const booleans: Readonly<Record<string, boolean | undefined>> = {
  y: true,
  yes: true,
  true: true,
  on: true,
  n: false,
  no: false,
  false: false,
  off: false,
};

function scalarOf({ type, value, source }: Scalar): JsonValue {
  if (type !== "PLAIN" || source === undefined) return typeof value === "string" ? value : null;
  if (/^(?:|~|null|Null|NULL)$/.test(source)) return null;
  if (/^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/.test(source)) {
    const boolean = booleans[source.toLowerCase()];
    if (boolean !== undefined) return boolean;
  }
  const [, sign = "", octal, hex, decimal] =
    /^([-+]?)(?:0([0-7]+)|0[xX]([0-9a-fA-F]+)|(0|[1-9]\d*))$/.exec(source) ?? [];
  const digits = octal === undefined ? (hex === undefined ? decimal : `0x${hex}`) : `0o${octal}`;
  if (digits === undefined) return source;
  const integer = sign === "-" ? -BigInt(digits) : BigInt(digits);
  if (BigInt.asIntN(64, integer) !== integer) return source;
  return BigInt.asIntN(32, integer) === integer ? Number(integer) : String(integer);
}
