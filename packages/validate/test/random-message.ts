import type { DescEnum, DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { create, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { RuleReader, Settings } from "../src/rule-settings.ts";
import { settingsIn } from "../src/rule-settings.ts";

/**
 * Returns random numbers from 0 up to, but not including, 1. The same seed gives the same numbers.
 */
export type Random = () => number;

/** Creates a generator of random numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The settings for a random message. */
export interface Maker {
  readonly random: Random;
  readonly reader: RuleReader;
  /** The share of the values that violate a rule: 0 to 1. */
  readonly badness: number;
}

const ruled = new WeakMap<DescMessage, readonly DescField[]>();

/**
 * Returns the fields with rules of their own. One of these fields of a message is chosen, and it
 * usually violates its rules.
 */
function ruledFields(desc: DescMessage, { reader }: Maker): readonly DescField[] {
  const known =
    ruled.get(desc) ?? desc.fields.filter((field) => reader.rulesOf(field) !== undefined);
  ruled.set(desc, known);
  return known;
}

/**
 * Returns a random message of a type. Its values are near the limits of the rules, on either side.
 *
 * A value may be judged wrongly as valid or invalid. This affects only how often the value occurs.
 */
export function randomMessage(maker: Maker, desc: DescMessage, depth = 0): Message {
  const message = create(desc);
  const focus =
    depth === 0 && maker.badness > 0 ? pick(maker, ruledFields(desc, maker)) : undefined;
  const focused: Maker = { ...maker, badness: 0.7 };
  const set = message as unknown as Record<string, unknown>;
  for (const member of desc.members) {
    if (member.kind === "oneof") {
      const isFocus = focus?.oneof === member;
      if (!isFocus && !decide(maker, maker.reader.isRequired(member), depth)) continue;
      const field = isFocus ? focus : pick(maker, shallowFirst(member.fields, depth));
      if (field !== undefined)
        set[member.localName] = {
          case: field.localName,
          value: randomValue(isFocus ? focused : maker, field, depth),
        };
    } else {
      const rules = maker.reader.rulesOf(member);
      const isFilled = isRequired(rules) || hasMinimum(rules);
      const isFocus = member === focus && (!isRequired(rules) || maker.random() < 0.5);
      if (isFocus || decide(maker, isFilled, depth)) {
        const value = randomValue(isFocus ? focused : maker, member, depth);
        if (value !== undefined) set[member.localName] = value;
      }
    }
  }
  return message;
}

function isRequired(rules: Settings | undefined): boolean {
  return Object.values(rules ?? {}).some((of) => (of as Settings).required === true);
}

/** Returns true if a field is set. A required field is usually set. */
function decide({ random, badness }: Maker, isNeeded: boolean, depth: number): boolean {
  if (isNeeded) return random() >= badness / 2;
  return random() < (depth === 0 ? 0.6 : depth < 3 ? 0.25 : 0.03);
}

function hasMinimum(rules: Settings | undefined): boolean {
  return (
    settingsIn(rules, "repeated")?.min_items !== undefined ||
    settingsIn(rules, "map")?.min_pairs !== undefined ||
    Object.values(rules ?? {}).some((of) => {
      const { min_len: length, gt, gte, prefix, pattern } = of as Settings;
      return [length, gt, gte, prefix, pattern].some((rule) => rule !== undefined);
    })
  );
}

/**
 * Returns the fields without messages if the nesting is already deep, so that every message ends.
 */
function shallowFirst(fields: readonly DescField[], depth: number): readonly DescField[] {
  const shallow = fields.filter(({ message }) => message === undefined);
  return depth > 3 && shallow.length > 0 ? shallow : fields;
}

function pick<T>({ random }: Maker, list: readonly T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

/** Returns one of the valid values or, with the probability `badness`, one of the others. */
function pickNear<T>(maker: Maker, values: readonly T[], good: readonly T[]): T | undefined {
  const keeps = new Set(good);
  const bad = values.filter((value) => !keeps.has(value));
  const isBad = good.length === 0 || (bad.length > 0 && maker.random() < maker.badness);
  return pick(maker, isBad ? bad : good);
}

function randomValue(maker: Maker, field: DescField, depth: number): unknown {
  const rules = maker.reader.rulesOf(field);
  if (field.fieldKind === "list") {
    const of = settingsIn(rules, "repeated");
    const count = randomCount(maker, of?.min_items, of?.max_items, depth);
    const deep = count > 50 ? Math.max(depth, 5) : depth;
    const items = Array.from({ length: count }, () =>
      randomItem(maker, field, settingsIn(of, "items"), deep, false),
    );
    if (of?.unique !== true) return items;
    return maker.random() < maker.badness ? [...items, ...items.slice(0, 1)] : [...new Set(items)];
  }
  if (field.fieldKind === "map") {
    const of = settingsIn(rules, "map");
    const count = randomCount(maker, of?.min_pairs, of?.max_pairs, depth);
    return Object.fromEntries(
      Array.from({ length: count }, () => [
        String(randomScalar(maker, field.mapKey, settingsIn(of, "keys"))),
        randomItem(maker, field, settingsIn(of, "values"), depth, false),
      ]),
    );
  }
  return randomItem(maker, field, rules, depth, field.oneof === undefined);
}

function randomCount(maker: Maker, min: unknown, max: unknown, depth: number): number {
  const [least, most] = [Number(min ?? 0), Number(max ?? 3)];
  const isBad = maker.random() < maker.badness;
  // A long list takes as long as a hundred messages.
  if (isBad && max !== undefined && (most < 5 || (depth === 0 && maker.random() < 0.3)))
    return most + 1;
  if (isBad && least > 0 && maker.random() < 0.5) return least - 1;
  if (max !== undefined && depth === 0 && maker.random() < 0.02) return most;
  return least + Math.floor(maker.random() * Math.min(3, most - least + 1));
}

/**
 * Returns a value of a field, an item of its list, or a value of its map. For a wrapper message, it
 * returns the wrapped value alone.
 */
function randomItem(
  maker: Maker,
  field: DescField,
  rules: Settings | undefined,
  depth: number,
  isUnwrapped: boolean,
): unknown {
  const { message } = field;
  if (message === undefined)
    return field.enum === undefined
      ? randomScalar(maker, field.scalar, rules)
      : randomEnum(maker, field.enum, settingsIn(rules, "enum"));
  if (isWrapperDesc(message)) {
    const value = randomScalar(maker, message.field.value?.scalar ?? ScalarType.STRING, rules);
    return isUnwrapped ? value : create(message, { value });
  }
  switch (message.typeName) {
    case "google.protobuf.Duration":
      return create(message, randomDuration(maker, settingsIn(rules, "duration")) as never);
    case "google.protobuf.Timestamp":
      return create(message, { seconds: 1_700_000_000n });
    case "google.protobuf.Any":
      return create(message, {
        typeUrl: maker.random() < 0.5 ? "" : "type.googleapis.com/acme.v1.Unknown",
        value: new Uint8Array(maker.random() < 0.5 ? 0 : 3),
      });
    case "google.protobuf.Struct":
      // A Struct field contains plain JSON.
      return maker.random() < 0.5 ? {} : { key: 1 };
  }
  if (message.typeName.startsWith("google.protobuf.")) return create(message);
  if (depth > 12) return create(message);
  return randomMessage(maker, message, depth + 1);
}

function randomDuration(maker: Maker, rules: Settings | undefined): object {
  const limits = ["lt", "lte", "gt", "gte", "const"].flatMap((name) => {
    const { seconds = 0n, nanos = 0 } = (rules?.[name] ?? {}) as {
      readonly seconds?: bigint;
      readonly nanos?: number;
    };
    return rules?.[name] === undefined ? [] : [seconds * 1_000_000_000n + BigInt(nanos)];
  });
  const nanos = [0n, 1n, 1_500_000_000n, -1n, 60_000_000_000n, ...around(limits)];
  const good = nanos.filter((total) => limits.length === 0 || keeps(total, rules));
  if (maker.random() < maker.badness / 10)
    return maker.random() < 0.5
      ? { seconds: 1n, nanos: -1 }
      : { seconds: 315_576_000_001n, nanos: 0 };
  const total = pickNear(maker, nanos, good) ?? 0n;
  return { seconds: total / 1_000_000_000n, nanos: Number(total % 1_000_000_000n) };
}

function keeps(total: bigint, rules: Settings | undefined): boolean {
  const limit = (name: string): bigint | undefined => {
    const value = rules?.[name] as { seconds?: bigint; nanos?: number } | undefined;
    return value && (value.seconds ?? 0n) * 1_000_000_000n + BigInt(value.nanos ?? 0);
  };
  const [lt, lte, gt, gte] = ["lt", "lte", "gt", "gte"].map(limit);
  return (
    (lt === undefined || total < lt) &&
    (lte === undefined || total <= lte) &&
    (gt === undefined || total > gt) &&
    (gte === undefined || total >= gte)
  );
}

function around(limits: readonly bigint[]): readonly bigint[] {
  return limits.flatMap((limit) => [limit - 1n, limit, limit + 1n]);
}

function randomEnum(maker: Maker, desc: DescEnum, rules: Settings | undefined): number {
  const numbers = desc.values.map(({ number }) => number);
  const bad = [Math.max(...numbers) + 1, -1, ...((rules?.not_in ?? []) as readonly number[])];
  const forbidden = new Set(bad);
  const good = numbers.filter((number) => !forbidden.has(number));
  return pick(maker, maker.random() < maker.badness ? bad : good) ?? 0;
}

const ranges: Readonly<Partial<Record<ScalarType, readonly [bigint, bigint]>>> = {
  [ScalarType.INT32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [ScalarType.SINT32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [ScalarType.SFIXED32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [ScalarType.UINT32]: [0n, 2n ** 32n - 1n],
  [ScalarType.FIXED32]: [0n, 2n ** 32n - 1n],
  [ScalarType.INT64]: [-(2n ** 63n), 2n ** 63n - 1n],
  [ScalarType.SINT64]: [-(2n ** 63n), 2n ** 63n - 1n],
  [ScalarType.SFIXED64]: [-(2n ** 63n), 2n ** 63n - 1n],
  [ScalarType.UINT64]: [0n, 2n ** 64n - 1n],
  [ScalarType.FIXED64]: [0n, 2n ** 64n - 1n],
};

function randomScalar(maker: Maker, scalar: ScalarType, rules: Settings | undefined): unknown {
  const of = Object.entries(rules ?? {}).find(([kind]) => kind !== "message")?.[1] as
    Settings | undefined;
  if (scalar === ScalarType.BOOL) return maker.random() >= (of ? maker.badness : 0.5);
  if (scalar === ScalarType.STRING) return randomText(maker, of ?? {});
  if (scalar === ScalarType.BYTES) return randomBytes(maker, of ?? {});
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT) return randomFloat(maker, of);
  const [least, most] = ranges[scalar] ?? [0n, 0n];
  const limits = ["const", "lt", "lte", "gt", "gte"].flatMap((name) =>
    of?.[name] === undefined ? [] : [BigInt(of[name] as number)],
  );
  const values = [0n, 1n, 7n, most, least, ...around(limits)].filter(
    (value) => value >= least && value <= most,
  );
  const lower = limitIn(of?.gt, 1n) ?? limitIn(of?.gte, 0n) ?? least;
  const upper = limitIn(of?.lt, -1n) ?? limitIn(of?.lte, 0n) ?? most;
  const good = values.filter((value) => value >= lower && value <= upper);
  const value = pickNear(maker, values, good) ?? 0n;
  return scalar in wide ? value : Number(value);
}

const wide: Readonly<Partial<Record<ScalarType, true>>> = {
  [ScalarType.INT64]: true,
  [ScalarType.SINT64]: true,
  [ScalarType.SFIXED64]: true,
  [ScalarType.UINT64]: true,
  [ScalarType.FIXED64]: true,
};

function limitIn(limit: unknown, more: bigint): bigint | undefined {
  return limit === undefined ? undefined : BigInt(limit as number) + more;
}

function randomFloat(maker: Maker, rules: Settings | undefined): number {
  const limits = ["lt", "lte", "gt", "gte"].flatMap((name) =>
    rules?.[name] === undefined ? [] : [rules[name] as number],
  );
  const values = [0, 0.5, 1, ...limits.flatMap((limit) => [limit - 0.5, limit, limit + 0.5])];
  const within = values.filter(
    (value) =>
      value > Number(rules?.gt ?? -Infinity) &&
      value < Number(rules?.lt ?? Infinity) &&
      value >= Number(rules?.gte ?? -Infinity) &&
      value <= Number(rules?.lte ?? Infinity),
  );
  return pickNear(maker, [...values, NaN, -Infinity, 1e30], within) ?? 0;
}

const texts: readonly string[] = [
  ...[
    "x",
    "x-name",
    ":path",
    "name.of:1",
    "/path",
    "/path/x",
    "100%",
    "%",
    "text/html",
    "ümlaut😀",
  ],
  ...["", "a b", "a,b", "/", "/a?b", "line\nbreak", "nul\0", "bell\u0007", "del\u007f", "tab\t"],
];

function randomText(maker: Maker, rules: Settings): string {
  const lengths = ["len", "min_len", "max_len", "min_bytes", "max_bytes"].flatMap((name) =>
    rules[name] === undefined ? [] : [Number(rules[name])],
  );
  const near = lengths.flatMap((length) =>
    [length - 1, length, length + 1].filter((size) => size >= 0),
  );
  const long = near.filter((size) => size < 2000 || maker.random() < 0.05);
  const [prefix = "", suffix = ""] = [rules.prefix, rules.suffix] as readonly (
    string | undefined
  )[];
  const candidates = [
    ...texts,
    ...long.map((size) => "x".repeat(size)),
    ...long.filter((size) => size < 2000).map((size) => "é".repeat(size)),
    ...["a".repeat(64), "A1b2".repeat(16), `${prefix}x${suffix}`],
    ...((rules.in ?? []) as readonly string[]),
  ];
  const least = Math.max(Number(rules.min_len ?? 0), Number(rules.min_bytes ?? 0));
  const most = Math.min(Number(rules.max_len ?? Infinity), Number(rules.max_bytes ?? Infinity));
  const good = candidates.filter((text) => {
    if (Array.isArray(rules.in) && rules.in.length > 0) return rules.in.includes(text);

    const isOdd = (rules.well_known_regex !== undefined || least > 0) && /\p{Cc}/u.test(text);
    if (text === "" && rules.ignore_empty === true) return true;
    return (
      !isOdd &&
      text.length >= least &&
      Buffer.byteLength(text) <= most &&
      text.startsWith(prefix) &&
      text.endsWith(suffix) &&
      (typeof rules.pattern !== "string" || new RegExp(rules.pattern).test(text)) &&
      (rules.well_known_regex !== 1 || rules.strict === false || /^:?[\w.-]+$/.test(text))
    );
  });
  return pickNear(maker, candidates, good) ?? "";
}

function randomBytes(maker: Maker, rules: Settings): Uint8Array {
  const sizes = ["len", "min_len", "max_len"].flatMap((name) =>
    rules[name] === undefined
      ? []
      : [Number(rules[name]) - 1, Number(rules[name]), Number(rules[name]) + 1],
  );
  const all = [0, 1, 5, ...sizes].filter((size) => size >= 0);
  const good = all.filter(
    (size) => size >= Number(rules.min_len ?? 0) && size <= Number(rules.max_len ?? 100),
  );
  return new Uint8Array(pickNear(maker, all, good) ?? 0);
}
