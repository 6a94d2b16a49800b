import type { JsonValue } from "@bufbuild/protobuf";
import { Fault } from "./fault.ts";
import { MAX_DEPTH, tooDeep } from "./too-deep.ts";

/**
 * The same value with the keys of every object sorted, so that equal content gives equal bytes, whoever wrote it in which order (S-VER-4):
 * protobuf writes a map in the order of the object.
 * Throws a fault for more than `limit` values, which a few YAML aliases can make of a small file, and for deep ones, which they can make of a flat file.
 */
export function canonicalJson(value: unknown, maxValues: number): JsonValue {
  return sorted(value, { left: maxValues, path: [] });
}

interface Budget {
  left: number;
  /** Of the value at hand. */
  readonly path: (string | number)[];
}

function sorted(value: unknown, budget: Budget): JsonValue {
  if (--budget.left < 0) {
    throw new Fault({
      message: "becomes enormous once its aliases are resolved",
      hint: "write fewer aliases (*name)",
    });
  }
  if (Array.isArray(value)) return sortedList(value, budget);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  return sortedObject(value as Readonly<Record<string, unknown>>, budget);
}

/** The list itself where nothing in it changes: a copy of a large file takes hundreds of megabytes. */
function sortedList(list: readonly unknown[], budget: Budget): JsonValue {
  const items = list.map((item, at) => inside(item, at, budget));
  return (items.every((item, at) => item === list[at]) ? list : items) as JsonValue;
}

/** The object itself where its keys are in order and nothing in it changes. */
function sortedObject(object: Readonly<Record<string, unknown>>, budget: Budget): JsonValue {
  const keys = Object.keys(object);
  const isSorted = keys.every((key, at) => at === 0 || byKey(keys[at - 1] ?? "", key) < 0);
  if (!isSorted) keys.sort(byKey);
  const values = keys.map((key) => inside(object[key], key, budget));
  if (isSorted && values.every((item, at) => item === object[keys[at] ?? ""]))
    return object as JsonValue;
  return Object.fromEntries(keys.map((key, at) => [key, values[at] ?? null]));
}

function inside(value: unknown, step: string | number, budget: Budget): JsonValue {
  const { path } = budget;
  path.push(step);
  if (path.length > MAX_DEPTH) throw tooDeep({ path: [...path] });
  const json = sorted(value, budget);
  path.pop();
  return json;
}

/** Code point order, which is the order of the UTF-8 bytes. */
function byKey(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** UTF-16 units, with surrogates moved above everything else. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
