import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isObject } from "../documents-of.ts";
import { exactYaml } from "../exact-yaml.ts";

/** Writes values that were read from a text as YAML, with the comments and the style that they have there. */
export interface CommentedYaml {
  /** A part of what was read, or a value that has such parts, which may have been changed. */
  write(json: JsonValue): string;
  /** The same, with the comments before and after everything. */
  writeWhole(json: JsonValue): string;
}

/** Writes values without comments, in the order of their keys. */
export const plainYaml: CommentedYaml = {
  write: (json) => textOf(createNode(json)),
  writeWhole: (json) => textOf(createNode(json)),
};

/**
 * Remembers which node of a text each value is. Values are compared by identity, so no object or list may occur twice in `json`.
 * A scalar that YAML 1.2 and Envoy read differently is written as Envoy reads it. Of JSON only the order is kept.
 */
export function yamlWithComments(
  text: string,
  json: JsonObject,
  { isJson }: { readonly isJson: boolean },
): CommentedYaml {
  const parsed = exactYaml().parseAllDocuments(text, { uniqueKeys: false, logLevel: "error" });
  const [document] = "empty" in parsed ? [] : parsed;
  if (document?.contents == null) return plainYaml;
  const nodes = new Map<JsonValue, YAMLMap | YAMLSeq>();
  const leading = new Map<JsonValue, string>();
  const context: Context = { document, nodes, leading, keepsLooks: !isJson };
  remember(document.contents, json, context);
  return {
    write: (value) => {
      const node = nodeOf(value, undefined, context);
      if (!isJson) node.commentBefore ??= leading.get(value) ?? null;
      return textOf(node);
    },
    writeWhole: (value) =>
      textOf(nodeOf(value, undefined, context), {
        before: document.commentBefore,
        after: document.comment,
      }),
  };
}

interface Context {
  readonly document: Document;
  readonly nodes: Map<JsonValue, YAMLMap | YAMLSeq>;
  /** The comments before first items, by item. */
  readonly leading: Map<JsonValue, string>;
  /** true: comments and styles are kept. */
  readonly keepsLooks: boolean;
}

function remember(node: unknown, json: JsonValue, context: Context): void {
  const { isMap, isSeq } = exactYaml();
  const meant = resolved(node, context);
  if (isMap(meant) && isObject(json)) {
    context.nodes.set(json, meant);
    for (const [key, pair] of pairsOf(meant, context))
      if (Object.hasOwn(json, key)) remember(pair.value, json[key] ?? null, context);
  }
  if (isSeq(meant) && Array.isArray(json) && meant.items.length === json.length) {
    context.nodes.set(json, meant);
    const [first] = json;
    // The parser gives a list what is written before its first item.
    if (first !== undefined && meant.commentBefore != null)
      context.leading.set(first, meant.commentBefore);
    for (const [at, item] of meant.items.entries()) remember(item, json[at] ?? null, context);
  }
}

/** `before`: the node of the text in this position. */
function nodeOf(json: JsonValue, before: unknown, context: Context): Node {
  const known = typeof json === "object" && json !== null ? context.nodes.get(json) : undefined;
  if (Array.isArray(json)) return seqOf(json, known, context);
  if (isObject(json)) return mapOf(json, known, context);
  const meant = resolved(before, context);
  if (!exactYaml().isScalar(meant) || meant.value !== json || !context.keepsLooks)
    return createNode(json);
  return copyOf(meant);
}

function mapOf(json: JsonObject, known: unknown, context: Context): YAMLMap {
  const { isMap, Pair, YAMLMap } = exactYaml();
  const map = new YAMLMap();
  const pairs = isMap(known) ? pairsOf(known, context) : new Map<string, Pair>();
  if (isMap(known) && context.keepsLooks) copyLooks(known, map);
  // The order of the text, and then what is new.
  const keys = new Set([...pairs.keys(), ...Object.keys(json)]);
  for (const key of keys) {
    if (!Object.hasOwn(json, key)) continue;
    const pair = pairs.get(key);
    map.items.push(
      new Pair(
        keyNode(key, context.keepsLooks ? pair?.key : undefined),
        nodeOf(json[key] ?? null, pair?.value, context),
      ),
    );
  }
  return map;
}

function keyNode(key: string, before: unknown): Node {
  if (!exactYaml().isScalar(before) || before.value !== key) return createNode(key);
  return copyOf(before);
}

/** Without an anchor: no alias refers to it any more. */
function copyOf(scalar: Scalar): Scalar {
  const copy = Object.assign(new (exactYaml().Scalar)(scalar.value), scalar);
  delete copy.anchor;
  return copy;
}

function seqOf(json: readonly JsonValue[], known: unknown, context: Context): YAMLSeq {
  const { isSeq, YAMLSeq } = exactYaml();
  const seq = new YAMLSeq();
  const items = isSeq(known) ? known.items : [];
  if (isSeq(known) && context.keepsLooks) copyLooks(known, seq);
  for (const [at, item] of json.entries()) seq.items.push(nodeOf(item, items[at], context));
  return seq;
}

function copyLooks(from: YAMLMap | YAMLSeq, to: YAMLMap | YAMLSeq): void {
  to.commentBefore = from.commentBefore ?? null;
  to.comment = from.comment ?? null;
  to.spaceBefore = from.spaceBefore === true;
  to.flow = from.flow === true;
}

/** By key, as Envoy reads keys; of equal ones the last. */
function pairsOf(map: YAMLMap, context: Context): ReadonlyMap<string, Pair> {
  const { isScalar } = exactYaml();
  return new Map(
    map.items.map((pair) => {
      const key = resolved(pair.key, context);
      return [isScalar(key) ? (key.source ?? String(key.value)) : String(key), pair];
    }),
  );
}

function resolved(node: unknown, { document }: Context): unknown {
  return exactYaml().isAlias(node) ? node.resolve(document) : node;
}

function createNode(json: JsonValue): Node {
  const { Document, isNode, Scalar } = exactYaml();
  const node = new Document(json, { aliasDuplicateObjects: false }).contents;
  return isNode(node) ? node : new Scalar(json);
}

function textOf(
  node: Node,
  {
    before,
    after,
  }: {
    readonly before?: string | null | undefined;
    readonly after?: string | null | undefined;
  } = {},
): string {
  // Texts that YAML 1.1 reads as another value, such as `yes` and `010`, are quoted, since Envoy reads YAML 1.1.
  const document = new (exactYaml().Document)(null, { compat: "yaml-1.1" });
  document.contents = node;
  document.commentBefore = before ?? null;
  document.comment = after ?? null;
  return document.toString({ lineWidth: 0 });
}
