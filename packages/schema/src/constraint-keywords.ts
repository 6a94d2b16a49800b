import type { DescEnum, DescField } from "@bufbuild/protobuf";
import { type Settings, settingsIn } from "@xdstp/validate";
import { allOf, escapePattern, type JsonSchema } from "./json-schema.ts";

/**
 * The keywords that say the rules of a value, of an item of a list or of a value of a map.
 *
 * Left out is what a schema cannot say: sizes in bytes but the upper limit, patterns that RE2 and ECMAScript read differently, limits of a Duration but zero, addresses and host names, and the limits of numbers that are written as texts.
 */
export function valueKeywords(field: DescField, rules: Settings | undefined): JsonSchema {
  return allOf(
    ...Object.entries(rules ?? {}).map(([kind, of]) => {
      const say = kinds[kind] ?? (numberKinds.has(kind) ? numberKeywords : undefined);
      return say === undefined ? {} : say(of as Settings, field.enum);
    }),
  );
}

/** The keywords that say how many items or pairs a list or a map may have, and whether they may be equal. */
export function countKeywords(field: DescField, rules: Settings | undefined): JsonSchema {
  const [kind, unit, size] =
    field.fieldKind === "map" ? ["map", "pairs", "Properties"] : ["repeated", "items", "Items"];
  const of = settingsIn(rules, kind) ?? {};
  const [least, most] = [of[`min_${unit}`], of[`max_${unit}`]];
  const counts = {
    ...(Number(least ?? 0) > 0 && { [`min${size}`]: Number(least) }),
    ...(most !== undefined && { [`max${size}`]: Number(most) }),
    ...(of.unique === true && { uniqueItems: true }),
  };
  return unlessEmpty(of, counts, { [`max${size}`]: 0 });
}

/** Returns true if an omitted value violates the rules. The value must have no presence of its own: if omitted, it counts as the empty text, zero, or an empty list or map. */
export function rejectsEmpty(schema: JsonSchema): boolean {
  const { allOf: parts, anyOf, enum: values, not, pattern } = schema;
  if (anyOf !== undefined) return false;
  if (Array.isArray(parts)) return (parts as readonly JsonSchema[]).some(rejectsEmpty);
  const isExcluded = (value: unknown): boolean => value === "" || value === 0 || value === false;
  const excluded = (not as { readonly enum?: readonly unknown[] } | undefined)?.enum ?? [];
  const isOver = (keyword: string): boolean => Number(schema[keyword] ?? 0) > 0;
  return (
    ["minLength", "minItems", "minProperties", "minimum"].some(isOver) ||
    Number(schema.exclusiveMinimum ?? -1) >= 0 ||
    Number(schema.maximum ?? 0) < 0 ||
    Number(schema.exclusiveMaximum ?? 1) <= 0 ||
    (Array.isArray(values) && !values.some(isExcluded)) ||
    excluded.some(isExcluded) ||
    (typeof pattern === "string" && !new RegExp(pattern, "u").test(""))
  );
}

type SayRules = (rules: Settings, enumeration: DescEnum | undefined) => JsonSchema;

const kinds: Readonly<Record<string, SayRules | undefined>> = {
  string: stringKeywords,
  bytes: ({ min_len }) => (Number(min_len ?? 0) > 0 ? { minLength: 1 } : {}),
  bool: ({ const: only }) => (only === undefined ? {} : { not: { enum: [only !== true] } }),
  enum: (rules, enumeration) =>
    listKeywords(rules, (number) => [
      number,
      ...(enumeration?.values ?? []).filter((one) => one.number === number).map(({ name }) => name),
    ]),
  duration: durationKeywords,
};

const numberKinds: ReadonlySet<string> = new Set([
  ...["float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64"],
  ...["fixed32", "fixed64", "sfixed32", "sfixed64"],
]);

function numberKeywords(rules: Settings): JsonSchema {
  const limit = (name: string): number | undefined =>
    rules[name] === undefined ? undefined : Number(rules[name]);
  const range = {
    exclusiveMinimum: limit("gt"),
    minimum: limit("gte"),
    exclusiveMaximum: limit("lt"),
    maximum: limit("lte"),
  };
  const lower = range.exclusiveMinimum ?? range.minimum ?? -Infinity;
  const upper = range.exclusiveMaximum ?? range.maximum ?? Infinity;
  const given = Object.entries(range).filter(([, value]) => value !== undefined);
  // With a lower limit above the upper one, the value has to be outside of both.
  const limits = lower < upper ? Object.fromEntries(given) : {};
  const listed = listKeywords(rules, (number) => [Number(number), String(number)]);
  return unlessEmpty(rules, allOf(limits, listed), { enum: [0, "0"] });
}

/** `const`, `in` and `not_in`, by the forms that a value of the rule has in JSON. */
function listKeywords(
  rules: Settings,
  formsOf: (value: unknown) => readonly unknown[],
): JsonSchema {
  const only = rules.const === undefined ? rules.in : [rules.const];
  const allowed = listOf(only).flatMap(formsOf);
  const forbidden = listOf(rules.not_in).flatMap(formsOf);
  return {
    ...(allowed.length > 0 && { enum: allowed }),
    ...(forbidden.length > 0 && { not: { enum: forbidden } }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function stringKeywords(rules: Settings): JsonSchema {
  const { prefix, suffix, contains, not_contains: without } = rules;
  const part = (text: unknown, pattern: (escaped: string) => string): readonly string[] =>
    typeof text === "string" ? [pattern(escapePattern(text))] : [];
  const patterns = [
    ...part(prefix, (text) => `^${text}`),
    ...part(suffix, (text) => `${text}$`),
    ...part(contains, (text) => text),
    ...part(without, (text) => String.raw`^(?![\s\S]*${text})`),
    ...headerPattern(rules),
    ...(isSameInBoth(rules.pattern) ? [rules.pattern] : []),
  ];
  const least = Number(rules.len ?? rules.min_len ?? (Number(rules.min_bytes ?? 0) > 0 ? 1 : 0));
  const most = rules.len ?? rules.max_len ?? rules.max_bytes;
  return unlessEmpty(
    rules,
    allOf(
      {
        ...(least > 0 && { minLength: least }),
        ...(most !== undefined && { maxLength: Number(most) }),
      },
      ...patterns.map((pattern) => ({ pattern })),
      listKeywords(rules, (text) => [text]),
    ),
    { maxLength: 0 },
  );
}

/** As `@xdstp/validate` reads them: texts of HTTP headers. */
function headerPattern({ well_known_regex: regex, strict }: Settings): readonly string[] {
  if (regex !== 1 && regex !== 2) return [];
  if (strict === false) return [String.raw`^[^\u0000\n\r]*$`];
  return [
    regex === 1
      ? String.raw`^:?[\w!#$%&'*+\-.^|~${"`"},]+$`
      : String.raw`^[^\u0000-\u0008\u000A-\u001F\u007F]*$`,
  ];
}

/** The syntax that only RE2 has, or reads in another way: flags, its own classes and anchors, and quoted texts. */
const onlyRe2 = /\(\?[imsU-]|\(\?P|\[\[:|\\[AzQECpPaZ]|[*+?}]\+/;

function isSameInBoth(pattern: unknown): pattern is string {
  if (typeof pattern !== "string" || onlyRe2.test(pattern)) return false;
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}

/** A lower limit of zero is a matter of signs and digits; others are not. */
function durationKeywords({ gt, gte }: Settings): JsonSchema {
  if (isZero(gt)) return { pattern: "^(?=.*[1-9])[^-]" };
  return isZero(gte) ? { pattern: "^[^-]" } : {};
}

function isZero(duration: unknown): boolean {
  const { seconds = 0n, nanos = 0 } = (duration ?? { nanos: 1 }) as {
    readonly seconds?: bigint;
    readonly nanos?: number;
  };
  return seconds === 0n && nanos === 0;
}

function unlessEmpty(rules: Settings, schema: JsonSchema, empty: JsonSchema): JsonSchema {
  if (rules.ignore_empty !== true || Object.keys(schema).length === 0) return schema;
  return { anyOf: [empty, schema] };
}
