import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../../documents-of.ts";
import { type JsonPath, quote } from "../../folder-problem.ts";
import { fieldOf } from "../../json-reason.ts";
import type { ProblemCode } from "../../problem-codes.ts";

/** Collects what an import finds about the objects that it reads. */
export interface ObjectReport {
  /** Adds an error or a warning about a value. An equal finding about the same value is stored once. */
  add(node: ObjectNode, finding: Finding): void;
}

/** A finding about a value. */
export interface Finding {
  /** The code, which decides whether it is an error or a warning. */
  readonly code: ProblemCode;
  /** The problem, as the rest of a sentence that begins with the field. */
  readonly message: string;
  /** A solution. */
  readonly hint: string;
}

/** A Kubernetes object in a file. */
export interface KubernetesObject {
  readonly file: string;
  /** The index of the document in the file, from 0. */
  readonly document: number;
  /** The path in the document. It is not empty for an item of a `List`. */
  readonly path: JsonPath;
  /** The API group. Empty: the core group. */
  readonly group: string;
  readonly kind: string;
  /** The namespace. `default` if it is not set; empty for kinds without namespaces. */
  readonly namespace: string;
  readonly name: string;
  /** `metadata.creationTimestamp`, if it is set. */
  readonly created: string;
  readonly json: JsonObject;
  readonly report: ObjectReport;
}

/** A value in an object, or the place of a value that is not set. */
export interface ObjectNode {
  readonly object: KubernetesObject;
  /** The path from the root of the object. */
  readonly path: JsonPath;
  /** undefined: not set, or null. */
  readonly value: JsonValue | undefined;
}

/** Returns the node of a whole object. */
export function rootOf(object: KubernetesObject): ObjectNode {
  return { object, path: [], value: object.json };
}

/** Returns a title such as `HTTPRoute shop/cart`. */
export function titleOf({ kind, namespace, name }: KubernetesObject): string {
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

/** Returns the value below another one, by its keys. A value on the way that is not an object is reported. */
export function field(node: ObjectNode, ...keys: readonly string[]): ObjectNode {
  let { value } = node;
  let path = node.path;
  for (const key of keys) {
    const json = objectIn({ ...node, path, value });
    path = [...path, key];
    value = (json !== undefined && Object.hasOwn(json, key) ? json[key] : undefined) ?? undefined;
  }
  return { object: node.object, path, value };
}

/** Returns true if a value is set. */
export function isSet({ value }: ObjectNode): boolean {
  return value !== undefined;
}

/** Returns the items of a list; none if it is not set. */
export function itemsOf(node: ObjectNode): readonly ObjectNode[] {
  const { object, path, value } = node;
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    reportWrong(node, "a list");
    return [];
  }
  return value.map((item, at) => ({ object, path: [...path, at], value: item ?? undefined }));
}

/** Returns the entries of an object; none if it is not set. */
export function entriesOf(node: ObjectNode): readonly (readonly [key: string, node: ObjectNode])[] {
  return Object.keys(objectIn(node) ?? {}).map((key) => [key, field(node, key)]);
}

/** Returns the text of a value. undefined: it is not set, or not a text. */
export function textOf(node: ObjectNode): string | undefined {
  if (node.value === undefined || typeof node.value === "string") return node.value;
  reportWrong(node, "a text");
  return undefined;
}

/** Returns the text of a required value. If it is not set, that is reported, and the result is empty. */
export function requiredText(node: ObjectNode): string {
  const text = textOf(node);
  if (text !== undefined && text !== "") return text;
  if (node.value === undefined || text === "") reportMissing(node);
  return "";
}

/** Returns the text of a value that has to be one of a few texts. Any other value is reported. */
export function oneOf<T extends string>(
  node: ObjectNode,
  words: readonly T[],
  usual: T,
): T | undefined {
  const text = textOf(node) ?? (isSet(node) ? undefined : usual);
  const word = words.find((one) => one === text);
  if (word === undefined && text !== undefined)
    report(node, {
      code: "wrong-enum-value",
      message: `is ${quote(text)}, not one of ${words.join(", ")}`,
      hint: "correct it",
    });
  return word;
}

/** Returns an integer within bounds. undefined: it is not set, or it is wrong, which is reported. */
export function integerOf(node: ObjectNode, min: number, max: number): number | undefined {
  const { value } = node;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max)
    return value;
  reportWrong(node, `an integer from ${min} to ${max}`);
  return undefined;
}

/** Returns a boolean. undefined: it is not set. */
export function booleanOf(node: ObjectNode): boolean | undefined {
  if (node.value === undefined || typeof node.value === "boolean") return node.value;
  reportWrong(node, "true or false");
  return undefined;
}

/** Returns the milliseconds of a duration of the Gateway API, such as `1m30s` or `500ms`. undefined: it is not set, or it is wrong, which is reported. */
export function durationOf(node: ObjectNode): number | undefined {
  const text = textOf(node);
  if (text === undefined) return undefined;
  if (!/^(?:\d{1,5}(?:h|m|s|ms)){1,4}$/.test(text)) {
    reportWrong(node, 'a duration such as "1m30s" or "500ms"');
    return undefined;
  }
  const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
  return [...text.matchAll(/(\d+)(ms|h|m|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  );
}

/** Reports the fields of a whole object other than the usual ones. */
export function reportUnreadRoot(object: KubernetesObject): void {
  reportUnread(rootOf(object), ["apiVersion", "kind", "metadata", "spec", "status"]);
}

/** Reports the fields of an object that are not among the known ones. */
export function reportUnread(node: ObjectNode, known: readonly string[]): void {
  for (const [key, child] of entriesOf(node))
    if (!known.includes(key) && isSet(child))
      notImported(child, ...(unread.get(key) ?? unknownField));
}

/** Reports a value that the import does not support. */
export function notImported(node: ObjectNode, reason: string, wayOut: string): void {
  report(node, { code: "not-imported", message: `is not imported: ${reason}`, hint: wayOut });
}

/** Reports a reference to an object that does not exist or may not be used. */
export function dangling(node: ObjectNode, message: string, wayOut: string): void {
  report(node, { code: "dangling-reference", message, hint: wayOut });
}

/** Reports a wrong value, so that nothing is imported. */
export function reportWrong(node: ObjectNode, expected: string): void {
  report(node, { code: "wrong-value", message: `is not ${expected}`, hint: "correct it" });
}

function reportMissing(node: ObjectNode): void {
  report(node, { code: "wrong-value", message: "is missing", hint: "add it" });
}

function report(node: ObjectNode, finding: Finding): void {
  node.object.report.add(node, finding);
}

/** Returns a place such as `HTTPRoute shop/cart: spec.rules[0].filters`. */
export function placeOf({ object, path }: ObjectNode): string {
  const way = fieldOf(path);
  return way === "" ? titleOf(object) : `${titleOf(object)}: ${way}`;
}

function objectIn(node: ObjectNode): JsonObject | undefined {
  const { value } = node;
  if (value === undefined || isObject(value)) return value;
  reportWrong(node, "an object");
  return undefined;
}

const unknownField = [
  "this field is not supported",
  "check its spelling, or change the written files",
] as const;

/** Known fields that the folder has no equivalent for, with the reason and a solution. */
const unread: ReadonlyMap<string, readonly [reason: string, wayOut: string]> = new Map(
  Object.entries({
    sessionPersistence: [
      "requests of a session may reach several endpoints",
      "add the filter envoy.filters.http.stateful_session to the listener",
    ],
    infrastructure: ["the import starts no Envoy", "give its labels to the one that you start"],
    addresses: ["listeners are bound to 0.0.0.0", "change the address in the file of the listener"],
    parametersRef: [
      "they are settings of another implementation",
      "change the written files where they need what it says",
    ],
    backend: ["Envoy shows no certificate to backends", "add it to the files of the clusters"],
    backendTLS: ["Envoy shows no certificate to backends", "add it to the files of the clusters"],
    options: ["they belong to another implementation", "change the TLS context of the listener"],
    defaultScope: [
      "routes are attached by their parentRefs only",
      "name the Gateway in each route",
    ],
    useDefaultGateways: ["routes are attached by their parentRefs only", "add parentRefs"],
    allowedListeners: ["ListenerSets are not read", "write their listeners into the Gateway"],
    retryConstraint: ["there is no budget of retries", "add circuit_breakers to the cluster"],
    externalAuth: ["there is no external authorization", "add envoy.filters.http.ext_authz"],
  }),
);
