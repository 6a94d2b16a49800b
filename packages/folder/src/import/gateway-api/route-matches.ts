import type { JsonObject } from "@bufbuild/protobuf";
import { patternError } from "../../envoy-checks/value-checks.ts";
import {
  field,
  isSet,
  itemsOf,
  notImported,
  type ObjectNode,
  oneOf,
  reportUnread,
  reportWrong,
  requiredText,
  textOf,
} from "./object-node.ts";

/** One way to match the requests of a rule. */
export interface RouteMatch {
  /** In the form of Envoy. */
  readonly json: JsonObject;
  /** The numbers that decide about precedence, the most important one first. A larger number has precedence. */
  readonly rank: readonly number[];
  /** The path prefix that a rewrite replaces, without a slash at its end. undefined: it is not matched by a prefix. */
  readonly prefix: string | undefined;
}

/** Sorts the match with precedence first. */
export function byRank(one: RouteMatch, other: RouteMatch): number {
  for (const [at, rank] of one.rank.entries()) {
    const difference = (other.rank[at] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The matches of a rule of an HTTPRoute. One without matches has all requests. */
export function httpMatches(rule: ObjectNode): readonly RouteMatch[] {
  return matchesIn(rule).map(httpMatch);
}

/** The items of `matches`; without items, one match that is not set. */
function matchesIn(rule: ObjectNode): readonly ObjectNode[] {
  const list = field(rule, "matches");
  const items = itemsOf(list);
  return items.length === 0 ? [{ ...list, value: undefined }] : items;
}

function httpMatch(node: ObjectNode): RouteMatch {
  reportUnread(node, ["path", "headers", "queryParams", "method"]);
  const path = pathAt(field(node, "path"));
  const method = methodAt(field(node, "method"));
  const headers = headerMatches(field(node, "headers"));
  const queries = queryMatches(field(node, "queryParams"));
  return {
    json: {
      ...path.json,
      ...headersOf([
        ...(method === undefined ? [] : [{ name: ":method", string_match: { exact: method } }]),
        ...headers,
      ]),
      ...(queries.length > 0 && { query_parameters: [...queries] }),
    },
    rank: [...path.rank, method === undefined ? 0 : 1, headers.length, queries.length],
    prefix: path.prefix,
  };
}

const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

function methodAt(node: ObjectNode): string | undefined {
  if (!isSet(node)) return undefined;
  const method = oneOf(node, methods, "GET");
  if (method === "CONNECT")
    notImported(
      node,
      "a request of this method has no path, so the route never matches it",
      "add a route with connect_matcher to the written files",
    );
  return method;
}

const pathTypes = ["Exact", "PathPrefix", "RegularExpression"] as const;

/** The kind of a path and its length decide first. */
function pathAt(node: ObjectNode): RouteMatch {
  reportUnread(node, ["type", "value"]);
  const type = oneOf(field(node, "type"), pathTypes, "PathPrefix") ?? "PathPrefix";
  const value = textOf(field(node, "value")) ?? "/";
  if (type !== "RegularExpression" && !isPath(value))
    reportWrong(
      field(node, "value"),
      'a path such as "/cart": it begins with a slash, and has no empty segments, no dots as a segment and no escaped slash',
    );
  if (type === "Exact")
    return { json: { path: value }, rank: [2, value.length], prefix: undefined };
  if (type === "RegularExpression")
    return {
      json: { safe_regex: regexOf(field(node, "value"), value) },
      rank: [1, value.length],
      prefix: undefined,
    };
  const prefix = value.replace(/\/+$/, "");
  return {
    json: prefix === "" ? { prefix: "/" } : { path_separated_prefix: prefix },
    rank: [0, prefix.length],
    prefix,
  };
}

/** Returns true if a request can have this path. Envoy normalizes the path of a request before it matches it, so a path that is not normal never matches. */
function isPath(text: string): boolean {
  return (
    /^\/(?:[-\w/.~!$&'()*+,;=:@]|%[\da-f]{2})*$/i.test(text) &&
    !/\/\/|\/\.{1,2}(?:\/|$)|%2f/i.test(text)
  );
}

/** The matches of a rule of a GRPCRoute. One without matches has all gRPC requests. */
export function grpcMatches(rule: ObjectNode): readonly RouteMatch[] {
  return matchesIn(rule).map(grpcMatch);
}

function grpcMatch(node: ObjectNode): RouteMatch {
  reportUnread(node, ["method", "headers"]);
  const method = field(node, "method");
  reportUnread(method, ["type", "service", "method"]);
  const type = oneOf(field(method, "type"), ["Exact", "RegularExpression"], "Exact");
  const [service, name] = [textOf(field(method, "service")), textOf(field(method, "method"))];
  if (type === "RegularExpression")
    for (const key of ["service", "method"])
      regexOf(field(method, key), textOf(field(method, key)) ?? "");
  const headers = headerMatches(field(node, "headers"));
  return {
    json: {
      ...grpcPath(service ?? "", name ?? "", type === "RegularExpression"),
      ...headersOf(headers),
      grpc: {},
    },
    rank: [
      type === "Exact" && (service ?? name) !== undefined ? 2 : 0,
      (service ?? "").length,
      (name ?? "").length,
      headers.length,
      0,
    ],
    prefix: undefined,
  };
}

function grpcPath(service: string, method: string, isPattern: boolean): JsonObject {
  if (service === "" && method === "") return { prefix: "/" };
  if (isPattern)
    return { safe_regex: { regex: `/(?:${service || "[^/]+"})/(?:${method || "[^/]+"})` } };
  if (method === "") return { prefix: `/${service}/` };
  if (service === "") return { safe_regex: { regex: `/[^/]+/${escaped(method)}` } };
  return { path: `/${service}/${method}` };
}

/** A pattern of RE2; another one is reported. */
function regexOf(node: ObjectNode, regex: string): JsonObject {
  const trouble = patternError(regex);
  if (trouble !== undefined)
    node.object.report.add(node, {
      code: "bad-pattern",
      message: `is not a pattern of RE2: ${trouble}`,
      hint: "RE2 has no lookaround and no back-references",
    });
  return { regex };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function headerMatches(list: ObjectNode): readonly JsonObject[] {
  return namedMatches(
    list,
    (name) => name.toLowerCase(),
    (value) => ({ exact: value }),
  );
}

function queryMatches(list: ObjectNode): readonly JsonObject[] {
  return namedMatches(list, (name) => name, queryValue);
}

/** Matches of headers or query parameters. The first match of a name counts. */
function namedMatches(
  list: ObjectNode,
  keyOf: (name: string) => string,
  exactly: (value: string) => JsonObject,
): readonly JsonObject[] {
  const byName = new Map<string, JsonObject>();
  for (const node of itemsOf(list)) {
    reportUnread(node, ["type", "name", "value"]);
    const type = oneOf(field(node, "type"), ["Exact", "RegularExpression"], "Exact");
    const name = requiredText(field(node, "name"));
    const value = textOf(field(node, "value")) ?? "";
    const key = keyOf(name);
    if (!byName.has(key))
      byName.set(key, {
        name,
        string_match:
          type === "RegularExpression"
            ? { safe_regex: regexOf(field(node, "value"), value) }
            : exactly(value),
      });
  }
  return [...byName.values()];
}

/** Characters that clients send in a query as they are. */
const sentAsItIs = /^[-\w.~]*$/;

/**
 * A match for a value of a query parameter. Envoy compares values as they are sent, so a character that clients encode is matched in both forms: `a b` is `a b`, `a%20b` or `a+b`.
 */
function queryValue(value: string): JsonObject {
  if (sentAsItIs.test(value)) return { exact: value };
  const forms = Array.from(value, (character) => {
    if (sentAsItIs.test(character)) return escaped(character);
    const encoded = Array.from(new TextEncoder().encode(character), encodedByte).join("");
    return `(?:${escaped(character)}|${encoded}${character === " " ? "|\\+" : ""})`;
  });
  return { safe_regex: { regex: forms.join("") } };
}

/** `%2[Ff]`: the digits may be in upper or lower case. */
function encodedByte(byte: number): string {
  const digits = byte.toString(16).padStart(2, "0");
  return `%${digits.replaceAll(/[a-f]/g, (digit) => `[${digit.toUpperCase()}${digit}]`)}`;
}

function headersOf(headers: readonly JsonObject[]): JsonObject {
  return headers.length === 0 ? {} : { headers: [...headers] };
}
