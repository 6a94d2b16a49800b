import type { JsonValue } from "@bufbuild/protobuf";
import { Fault } from "./fault.ts";
import { MAX_DEPTH, tooDeep } from "./too-deep.ts";

/**
 * The same value with the keys of every object sorted, so that equal content gives equal bytes, whoever wrote it in which order (S-VER-4):
 * protobuf writes a map in the order of the object.
 * Throws a fault for more than so many values, which a few YAML aliases can make of a small file, and for deep ones, which they can make of a flat file.
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
    throw new Fault({ message: "becomes enormous once its aliases are resolved", hint: "write fewer aliases (*name)" });
  }
  if (Array.isArray(value)) return value.map((item, at) => inside(item, at, budget));
  if (typeof value !== "object" || value === null) return value as JsonValue;
  const entries = Object.entries(value).sort(byKey);
  return Object.fromEntries(entries.map(([key, item]) => [key, inside(item, key, budget)]));
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
function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
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
