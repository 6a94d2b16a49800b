import type { DescEnum } from "@bufbuild/protobuf";
import { isIP, isIPv4 } from "node:net";
import { createPattern } from "./pattern.ts";
import type { Settings } from "./rule-settings.ts";

/** Reports that a value violates the rule with this id. */
export type Report = (rule: string, message: string) => void;

/** Checks a value that is set. */
export type ValueCheck = (value: unknown, report: Report) => void;

/**
 * Returns the check of a value by the rules of one kind, such as `string` or `uint32`. Lists, maps
 * and messages have other rules.
 */
export function valueCheck(
  kind: string,
  rules: Settings,
  enumeration: DescEnum | undefined,
): ValueCheck | undefined {
  switch (kind) {
    case "string":
      return stringCheck(rules);
    case "bytes":
      return bytesCheck(rules);
    case "bool":
      return all(constCheck(kind, rules, String));
    case "enum":
      return enumCheck(rules, enumeration);
    default:
      return numberKinds.has(kind) ? numberCheck(kind, rules) : undefined;
  }
}

/** Combines several checks into one. Returns undefined if there are none. */
export function all(...checks: readonly (ValueCheck | undefined)[]): ValueCheck | undefined {
  const given = checks.filter((check) => check !== undefined);
  if (given.length < 2) return given[0];
  return (value, report) => {
    for (const check of given) check(value, report);
  };
}

const numberKinds: ReadonlySet<string> = new Set([
  ...["float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64"],
  ...["fixed32", "fixed64", "sfixed32", "sfixed64"],
]);

function numberCheck(kind: string, rules: Settings): ValueCheck | undefined {
  const check = all(
    constCheck(kind, rules, String),
    rangeCheck(kind, rules, (value) => value as number | bigint, String),
    listCheck(kind, rules, String),
  );
  return unlessEmpty(rules, check, (value) => value === 0 || value === 0n);
}

/**
 * Returns a check of `lt`, `lte`, `gt` and `gte`. If the lower limit is not less than the upper
 * limit, the value must be outside the range between them.
 *
 * As in protoc-gen-validate, NaN violates the limits only if the value must be outside the range.
 */
export function rangeCheck(
  kind: string,
  rules: Settings,
  comparable: (value: unknown) => number | bigint,
  print: (limit: unknown) => string,
): ValueCheck | undefined {
  const upper = rules.lt === undefined ? limitOf("lte") : limitOf("lt");
  const lower = rules.gt === undefined ? limitOf("gte") : limitOf("gt");
  if (upper === undefined && lower === undefined) return undefined;
  const isOver = (value: number | bigint): boolean =>
    upper !== undefined && (upper.rule === "lt" ? value >= upper.limit : value > upper.limit);
  const isUnder = (value: number | bigint): boolean =>
    lower !== undefined && (lower.rule === "gt" ? value <= lower.limit : value < lower.limit);
  const above = lower === undefined ? "" : `${words[lower.rule]} ${lower.text}`;
  const below = upper === undefined ? "" : `${words[upper.rule]} ${upper.text}`;
  if (upper === undefined || lower === undefined || upper.limit > lower.limit)
    return (value, report) => {
      const compared = comparable(value);
      if (upper !== undefined && isOver(compared))
        report(`${kind}.${upper.rule}`, `must be ${below}`);
      else if (lower !== undefined && isUnder(compared))
        report(`${kind}.${lower.rule}`, `must be ${above}`);
    };
  return (value, report) => {
    const compared = comparable(value);
    if (isOver(compared) && isUnder(compared))
      report(`${kind}.${upper.rule}`, `must be ${below} or ${above}`);
  };

  function limitOf(
    rule: keyof typeof words,
  ): { rule: typeof rule; limit: number | bigint; text: string } | undefined {
    const limit = rules[rule];
    return limit === undefined ? undefined : { rule, limit: comparable(limit), text: print(limit) };
  }
}

const words = { lt: "less than", lte: "at most", gt: "more than", gte: "at least" } as const;

function constCheck(
  kind: string,
  rules: Settings,
  print: (value: unknown) => string,
): ValueCheck | undefined {
  const { const: only } = rules;
  if (only === undefined) return undefined;
  const message = `must be ${print(only)}`;
  return (value, report) => {
    if (value !== only) report(`${kind}.const`, message);
  };
}

/** Returns a check of `in` or `not_in`, which compares the key of each value. */
export function listCheck(
  kind: string,
  rules: Settings,
  print: (value: unknown) => string,
  keyOf: (value: unknown) => unknown = (value) => value,
): ValueCheck | undefined {
  const isIn = isFilled(rules.in);
  const listed = isIn ? rules.in : rules.not_in;
  if (!isFilled(listed)) return undefined;
  const keys = new Set(listed.map(keyOf));
  const message = `must ${isIn ? "" : "not "}be ${listed.length > 1 ? "one of " : ""}${listed.map(print).join(", ")}`;
  return (value, report) => {
    if (keys.has(keyOf(value)) !== isIn) report(`${kind}.${isIn ? "in" : "not_in"}`, message);
  };
}

function isFilled(list: unknown): list is readonly unknown[] {
  return Array.isArray(list) && list.length > 0;
}

/** Returns a check of a count. `exact`, `least` and `most` are the names of the rules. */
export function countCheck(
  kind: string,
  rules: Settings,
  [exact, least, most]: readonly [exact: string, least: string, most: string],
  unit: string,
  count: (value: unknown) => number,
): ValueCheck | undefined {
  const numberOf = (rule: string): number | undefined =>
    rules[rule] === undefined ? undefined : Number(rules[rule]);
  const units = (number: number): string => `${number} ${unit}${number === 1 ? "" : "s"}`;
  const [only, min, max] = [numberOf(exact), numberOf(least), numberOf(most)];
  if (only === undefined && (min ?? 0) === 0 && max === undefined) return undefined;
  return (value, report) => {
    const counted = count(value);
    if (only !== undefined) {
      if (counted !== only) report(`${kind}.${exact}`, `must have exactly ${units(only)}`);
    } else if (min !== undefined && counted < min)
      report(
        `${kind}.${least}`,
        min === 1 ? "must not be empty" : `must have at least ${units(min)}`,
      );
    else if (max !== undefined && counted > max)
      report(`${kind}.${most}`, `must have at most ${units(max)}`);
  };
}

/** Returns the check. If the rules set `ignore_empty`, it skips empty values. */
export function unlessEmpty(
  rules: Settings,
  check: ValueCheck | undefined,
  isEmpty: (value: unknown) => boolean,
): ValueCheck | undefined {
  if (check === undefined || rules.ignore_empty !== true) return check;
  return (value, report) => {
    if (!isEmpty(value)) check(value, report);
  };
}

function stringCheck(rules: Settings): ValueCheck | undefined {
  const check = all(
    constCheck("string", rules, quoted),
    listCheck("string", rules, quoted),
    countCheck("string", rules, ["len", "min_len", "max_len"], "character", (text) =>
      codePoints(text as string),
    ),
    countCheck("string", rules, ["len_bytes", "min_bytes", "max_bytes"], "byte", (text) =>
      Buffer.byteLength(text as string),
    ),
    textCheck(rules.prefix, "prefix", "must begin with", (text, part) => text.startsWith(part)),
    textCheck(rules.suffix, "suffix", "must end with", (text, part) => text.endsWith(part)),
    textCheck(rules.contains, "contains", "must contain", (text, part) => text.includes(part)),
    textCheck(
      rules.not_contains,
      "not_contains",
      "must not contain",
      (text, part) => !text.includes(part),
    ),
    formatCheck(rules),
    headerCheck(rules),
    patternCheck("string", rules.pattern, (text) => text as string),
  );
  return unlessEmpty(rules, check, (value) => value === "");
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++)
    if ((text.codePointAt(at) ?? 0) > 0xff_ff) {
      count--;
      at++;
    }
  return count;
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}

function textCheck(
  part: unknown,
  rule: string,
  must: string,
  holds: (text: string, part: string) => boolean,
): ValueCheck | undefined {
  if (typeof part !== "string") return undefined;
  return (text, report) => {
    if (!holds(text as string, part)) report(`string.${rule}`, `${must} ${quoted(part)}`);
  };
}

const formats: Readonly<Record<string, readonly [(text: string) => boolean, string]>> = {
  ip: [isAddress, "an IP address"],
  ipv4: [isIPv4, "an IPv4 address"],
  ipv6: [(text) => isAddress(text) && !isIPv4(text), "an IPv6 address"],
  hostname: [isHostname, "a host name"],
  address: [(text) => isHostname(text) || isAddress(text), "a host name or an IP address"],
  uuid: [
    (text) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu.test(text),
    "a UUID",
  ],
};

/**
 * The formats that have a precise definition. `email`, `uri` and `uri_ref` are not checked, because
 * they are defined only by what the parsers of Go's library accept.
 */
function formatCheck(rules: Settings): ValueCheck | undefined {
  const format = Object.keys(formats).find((name) => rules[name] === true);
  const [holds, what] = formats[format ?? ""] ?? [];
  if (holds === undefined) return undefined;
  return (text, report) => {
    if (!holds(text as string)) report(`string.${format ?? ""}`, `must be ${what ?? ""}`);
  };
}

/** Returns true for an IP address without a zone. Node also accepts a zone after a `%`. */
function isAddress(text: string): boolean {
  return isIP(text) > 0 && !text.includes("%");
}

function isHostname(text: string): boolean {
  const labels = text.replace(/\.$/u, "").toLowerCase().split(".");
  return (
    Buffer.byteLength(text) <= 253 &&
    labels.every((label) => /^(?!-)[\da-z-]{1,63}(?<!-)$/u.test(label))
  );
}

/**
 * Returns the check of the name or the value of an HTTP header. If `strict` is false, the check
 * rejects only line breaks and NUL characters, and accepts an empty name.
 */
function headerCheck(rules: Settings): ValueCheck | undefined {
  const { well_known_regex: regex } = rules;
  const name = regex === 1 ? "header_name" : regex === 2 ? "header_value" : undefined;
  if (name === undefined) return undefined;
  const [allowed, message] =
    rules.strict === false
      ? ([/^[^\0\n\r]*$/u, "must not contain a line break or a NUL character"] as const)
      : name === "header_name"
        ? ([/^:?[\w!#$%&'*+\-.^|~`,]+$/u, "must be the name of an HTTP header"] as const)
        : ([
            // eslint-disable-next-line no-control-regex -- these are what a value may not have
            /^[^\0-\x08\x0A-\x1F\x7F]*$/u,
            "must be the value of an HTTP header, without control characters",
          ] as const);
  return (text, report) => {
    if (!allowed.test(text as string)) report(`string.well_known_regex.${name}`, message);
  };
}

function patternCheck(
  kind: string,
  pattern: unknown,
  textOf: (value: unknown) => string,
): ValueCheck | undefined {
  if (typeof pattern !== "string") return undefined;
  const matches = createPattern(pattern);
  return (value, report) => {
    if (!matches(textOf(value))) report(`${kind}.pattern`, `must match the pattern ${pattern}`);
  };
}

function bytesCheck(rules: Settings): ValueCheck | undefined {
  const contentOf = (value: unknown): string => Buffer.from(value as Uint8Array).toString("latin1");
  const asText: Settings = Object.fromEntries(
    Object.entries(rules).map(([name, value]) => [name, inLatin1(value)]),
  );
  const hex = (content: unknown): string =>
    `0x${Buffer.from(content as string, "latin1").toString("hex")}`;
  const part = (rule: string, must: string, holds: (text: string, part: string) => boolean) => {
    const { [rule]: content } = asText;
    if (typeof content !== "string") return undefined;
    const check: ValueCheck = (value, report) => {
      if (!holds(contentOf(value), content)) report(`bytes.${rule}`, `${must} ${hex(content)}`);
    };
    return check;
  };
  const check = all(
    countCheck(
      "bytes",
      rules,
      ["len", "min_len", "max_len"],
      "byte",
      (value) => (value as Uint8Array).length,
    ),
    part("const", "must be", (text, only) => text === only),
    part("prefix", "must begin with", (text, begin) => text.startsWith(begin)),
    part("suffix", "must end with", (text, end) => text.endsWith(end)),
    part("contains", "must contain", (text, within) => text.includes(within)),
    listCheck("bytes", asText, hex, (value) => inLatin1(value)),
    addressCheck(rules),
    patternCheck("bytes", rules.pattern, (value) =>
      Buffer.from(value as Uint8Array).toString("utf8"),
    ),
  );
  return unlessEmpty(rules, check, (value) => (value as Uint8Array).length === 0);
}

function inLatin1(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inLatin1);
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
}

function addressCheck(rules: Settings): ValueCheck | undefined {
  const format = ["ip", "ipv4", "ipv6"].find((name) => rules[name] === true);
  if (format === undefined) return undefined;
  const what = { ip: "an IP address", ipv4: "an IPv4 address", ipv6: "an IPv6 address" }[format];
  return (value, report) => {
    const bytes = Buffer.from(value as Uint8Array);
    const isMapped =
      bytes.length === 16 && bytes.toString("hex", 0, 12) === `${"0".repeat(20)}ffff`;
    const is4 = bytes.length === 4 || isMapped;
    const holds = { ip: is4 || bytes.length === 16, ipv4: is4, ipv6: bytes.length === 16 && !is4 };
    if (!holds[format as keyof typeof holds])
      report(`bytes.${format}`, `must be the bytes of ${what ?? ""}`);
  };
}

function enumCheck(rules: Settings, enumeration: DescEnum | undefined): ValueCheck | undefined {
  const print = (value: unknown): string =>
    enumeration?.value[value as number]?.name ?? String(value);
  const defined: ValueCheck | undefined =
    rules.defined_only === true && enumeration !== undefined
      ? (value, report) => {
          if (enumeration.value[value as number] === undefined)
            report("enum.defined_only", `must be a value of ${enumeration.typeName}`);
        }
      : undefined;
  return all(constCheck("enum", rules, print), listCheck("enum", rules, print), defined);
}
