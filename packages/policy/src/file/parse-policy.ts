import { XdsError } from "@xdstp/core";
import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { collectionTypeOf, typeFromTypeUrl } from "@xdstp/uri";

import { addressRange, namePattern } from "./patterns.ts";

/**
 * The clients of a rule: by the URI in their certificate (with `*` at the end, by its beginning),
 * or by their address.
 */
export type RuleSubject =
  | { readonly identity: string; readonly address?: undefined }
  | { readonly identity?: undefined; readonly address: string };

/** A rule: what the clients of one kind may see. */
export type PolicyRule = RuleSubject & {
  /**
   * The allowed names by type URL, or by `*` for every type. Each is a name in canonical spelling
   * or, with `*` at the end, the beginning of names.
   */
  readonly allow: ReadonlyMap<string, readonly string[]>;
  /** The answer to a forbidden name, as in `Policy.forbidden`. */
  readonly forbidden: "missing" | "denied";
  /** The clients that `xdstp status` shows to them: those of this rule, or all. */
  readonly status: "own" | "all";
  /** File and line of the rule, for people. Absent: the rule is not from a file. */
  readonly place?: string;
};

/** Returns the name of a rule's clients in messages. */
export function subjectOf({ identity, address }: RuleSubject): string {
  return identity ?? `address ${address}`;
}

/**
 * Reads the rules of a policy file, in YAML or JSON. Throws an XdsError, INVALID_ARGUMENT, with
 * file, line and reason for the first error: a rule that is half understood would show too much or
 * too little.
 * @param file - The name of the file in messages
 */
export function parsePolicy(
  text: string,
  file: string,
  {
    certificates,
  }: {
    /**
     * True if clients have to show certificates. Without certificates a rule by identity matches no
     * client, so it is an error.
     */
    readonly certificates: boolean;
  } = { certificates: true },
): readonly PolicyRule[] {
  const lines = new LineCounter();
  const fail: Fail = (at, message, rule) => {
    const { line, col } = lines.linePos(at ?? 0);
    throw new XdsError("INVALID_ARGUMENT", `${file}:${line}:${col}: ${message}`, { rule });
  };
  const root = parse(text, lines, fail);
  if (!isMap(root)) return fail(root?.range?.[0], "give a list of rules: `rules: [...]`");
  const { rules } = fieldsOf(root, ["rules"], fail);
  if (!isSeq(rules?.value))
    return fail(startOf(rules?.value) ?? startOf(root), "give a list of rules: `rules: [...]`");
  const known = new Set<string>();
  return rules.value.items.map((item) => {
    const rule = ruleOf(item, fail);
    const subject = subjectOf(rule);
    if (known.has(subject))
      fail(
        startOf(item),
        `there is a rule for ${JSON.stringify(subject)} already; put both into one`,
      );
    if (!certificates && rule.identity !== undefined)
      fail(
        startOf(item),
        "the rule goes by the certificates of clients: have the server check them (--tls-client-ca), or say `address` instead of `identity`",
      );
    known.add(subject);
    return { ...rule, place: `${file}:${lines.linePos(startOf(item) ?? 0).line}` };
  });
}

type Fail = (offset: number | undefined, message: string, rule?: string) => never;

function parse(text: string, lineCounter: LineCounter, fail: Fail): Node | null {
  try {
    const {
      errors: [error],
      contents,
    } = parseDocument(text, { lineCounter, prettyErrors: false });
    return error === undefined ? contents : fail(error.pos[0], whyNot(error.message));
  } catch (error) {
    if (error instanceof XdsError) throw error;
    return fail(
      0,
      error instanceof RangeError ? whyNot(error.message) : `cannot be read: ${String(error)}`,
    );
  }
}

/**
 * Returns the reason why a text is not YAML. If the stack of the parser overflows, its message says
 * only that.
 */
function whyNot(message: string): string {
  return message.includes("call stack")
    ? "nests too deeply; rules have four levels"
    : `is not YAML: ${message}`;
}

function ruleOf(item: unknown, fail: Fail): PolicyRule {
  if (!isMap(item)) return fail(startOf(item), "a rule has `identity` or `address`, and `allow`");
  const { identity, address, allow, forbidden, status } = fieldsOf(
    item,
    ["identity", "address", "allow", "forbidden", "status"],
    fail,
  );
  return {
    ...ruleSubject(item, { identity, address }, fail),
    allow: allow === undefined ? new Map<string, readonly string[]>() : allowOf(allow, fail),
    forbidden:
      forbidden === undefined
        ? "missing"
        : choiceOf(forbidden, "forbidden", ["missing", "denied"], fail),
    status: status === undefined ? "own" : choiceOf(status, "status", ["own", "all"], fail),
  };
}

function ruleSubject(
  item: YAMLMap,
  { identity, address }: Readonly<Record<"identity" | "address", Field | undefined>>,
  fail: Fail,
): RuleSubject {
  if (identity !== undefined && address !== undefined)
    return fail(
      startOf(address.key),
      "the rule has `identity` and `address`; make two rules, of which the one by identity counts first",
    );
  if (identity !== undefined) return { identity: patternOf(identity.value, "identity", fail) };
  if (address === undefined)
    return fail(
      startOf(item),
      "the rule has no `identity`: give the URI in the certificates of its clients, or how it begins: spiffe://example.com/shop/*; or give an `address`",
    );
  const range = isScalar(address.value) ? address.value.value : undefined;
  return typeof range === "string" && addressRange(range) !== undefined
    ? { address: range }
    : fail(
        startOf(address.value) ?? startOf(address.key),
        "`address` is an IP address or a range of them: 192.0.2.0/24, 2001:db8::/32",
      );
}

function allowOf({ value, key }: Field, fail: Fail): ReadonlyMap<string, readonly string[]> {
  if (!isMap(value))
    return fail(
      startOf(value) ?? startOf(key),
      '`allow` has names by type: `clusters: [shop/*]`, or `"*": [...]` for every type',
    );
  const known = new Set<string>();
  return new Map(
    value.items.map((pair) => {
      const names = pair.value;
      if (!isSeq(names))
        return fail(
          startOf(names) ?? startOf(pair.key),
          'give a list of names, or of how they begin: ["shop/*"]',
        );
      const typeUrl = typeOf(pair, fail);
      if (known.has(typeUrl))
        fail(
          startOf(pair.key),
          `there is a list for ${JSON.stringify(textOf(pair.key))} already; put both into one`,
        );
      known.add(typeUrl);
      return [typeUrl, names.items.map((name) => ofType(name, typeUrl, fail))] as const;
    }),
  );
}

function typeOf({ key }: Pair, fail: Fail): string {
  const text = textOf(key);
  if (text === "*") return text;
  const typeUrl =
    shortTypes.get(text) ??
    (text.includes("/") ? text : text.includes(".") ? typeUrlOf(text) : undefined);
  return typeUrl !== undefined && isTypeUrl(typeUrl)
    ? typeUrl
    : fail(
        startOf(key),
        `${JSON.stringify(text)} is not a type: give ${[...shortTypes.keys()].join(", ")}, a full message name, or "*"`,
      );
}

function isTypeUrl(text: string): boolean {
  const slash = text.lastIndexOf("/");
  return (
    /^[\w.-]+(?:\/[\w.-]+)*$/.test(text.slice(0, slash)) &&
    /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(text.slice(slash + 1))
  );
}

function textOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : "";
}

function ofType(node: unknown, typeUrl: string, fail: Fail): string {
  const pattern = canonical(node, fail);
  if (typeUrl === "*" || patternFitsType(pattern, typeUrl)) return pattern;
  return fail(
    startOf(node),
    `${JSON.stringify(pattern)} matches no name of ${typeUrl.slice(typeUrl.lastIndexOf("/") + 1)}; put it under the type that it names, or under "*"`,
    "B-TYPE-5",
  );
}

function canonical(node: unknown, fail: Fail): string {
  const text = patternOf(node, "name", fail);
  const found = namePattern(text);
  if ("pattern" in found) return found.pattern;
  return fail(
    startOf(node),
    `${JSON.stringify(text)} fits no name in canonical spelling${found.meant === undefined ? "" : `; write ${JSON.stringify(found.meant)}`}`,
  );
}

function patternOf(node: unknown, what: string, fail: Fail): string {
  const text =
    isScalar(node) && typeof node.value === "string"
      ? node.value
      : fail(startOf(node), `the ${what} is not a text; put it in quotes`);
  if (text === "") fail(startOf(node), `the ${what} is empty; "*" means all`);
  if (text.slice(0, -1).includes("*"))
    fail(startOf(node), `${JSON.stringify(text)}: a * stands at the end only`);
  return text;
}

function choiceOf<const T extends string>(
  { value }: Field,
  key: string,
  choices: readonly [T, T],
  fail: Fail,
): T {
  const choice = choices.find((one) => isScalar(value) && value.value === one);
  return choice ?? fail(startOf(value), `\`${key}\` is ${choices.join(" or ")}`);
}

interface Field {
  readonly key: unknown;
  readonly value: unknown;
}

function fieldsOf<const K extends string>(
  map: YAMLMap,
  names: readonly K[],
  fail: Fail,
): Readonly<Partial<Record<K, Field>>> {
  return Object.fromEntries(
    map.items.map(({ key, value }) => {
      const name = names.find((one) => isScalar(key) && key.value === one);
      if (name === undefined)
        fail(
          startOf(key),
          `${JSON.stringify(isScalar(key) ? key.value : "?")} is unknown; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`,
        );
      return [name, { key, value }];
    }),
  ) as Partial<Record<K, Field>>;
}

function startOf(node: unknown): number | undefined {
  const { range, key } = (node ?? {}) as {
    readonly range?: readonly number[] | null;
    readonly key?: { readonly range?: readonly number[] | null };
  };
  return range?.[0] ?? key?.range?.[0];
}

/**
 * Matches the authority and the type of a name or prefix in canonical spelling, and the character
 * that ends the type.
 */
const typeIn = /^xdstp:\/\/[^/]*\/([^/?*]*)([/?*]?)/;

/**
 * Returns true if a pattern, as `namePattern` returns it, can match a name that is requested under
 * a type: a name of that type, or a list collection of it (B-TYPE-5, B-TYPE-6). Opaque names may
 * have any type.
 */
function patternFitsType(pattern: string, typeUrl: string): boolean {
  const [, type, end] = typeIn.exec(pattern) ?? [];
  if (type === undefined) return true;
  const own = typeFromTypeUrl(typeUrl);
  if (own === undefined) return false;
  return [own, collectionTypeOf(own)].some((fitting) =>
    end === "*" ? fitting.startsWith(type) : fitting === type,
  );
}
