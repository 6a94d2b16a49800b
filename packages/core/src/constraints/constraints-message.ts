import { decodeText } from "#platform";
import { concatBytes, lengthDelimited, walkFields, WireType } from "../wire/fields.ts";
import type { Constraints } from "./constraints.ts";

/** Field numbers of `DynamicParameterConstraints`, which form a oneof. */
const TYPE = { single: 1, or: 2, and: 3, not: 4 } as const;
/** Field numbers of `SingleConstraint`. */
const KEY = 1;
const VALUE = 2;
const EXISTS = 3;
/** Field number of `ConstraintList`. */
const CONSTRAINTS = 1;

/** The greatest nesting depth and the greatest number of constraints. */
const DEPTH = 16;
const COUNT = 1_000;

/**
 * Reads an encoded `DynamicParameterConstraints` (TP2). An empty message matches every client.
 * Never throws: `fault` says why the bytes cannot be used.
 */
export function readConstraints(
  bytes: Uint8Array,
): { readonly constraints: Constraints; readonly fault?: undefined } | { readonly fault: string } {
  const reader = new Reader(bytes);
  const constraints = reader.read([0, bytes.length], 1);
  return constraints === undefined ? { fault: reader.fault } : { constraints };
}

type Range = readonly [start: number, end: number];

class Reader {
  fault = "they are not DynamicParameterConstraints";
  readonly #bytes: Uint8Array;
  #count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(range: Range, depth: number): Constraints | undefined {
    if (depth > DEPTH) return this.#reject(`they are nested deeper than ${DEPTH}`);
    if (++this.#count > COUNT) return this.#reject(`they are more than ${COUNT}`);
    const fields = this.#fields(range);
    if (fields === undefined) return undefined;
    const [field, at] = fields.at(-1) ?? [];
    if (at === undefined) return { kind: "and", of: [] };
    switch (field) {
      case TYPE.single:
        return this.#single(at);
      case TYPE.or:
        return this.#list("or", at, depth);
      case TYPE.and:
        return this.#list("and", at, depth);
      case TYPE.not:
        return this.#not(at, depth);
      default:
        return this.#reject(`field ${field} is not known`);
    }
  }

  #not(range: Range, depth: number): Constraints | undefined {
    const of = this.read(range, depth + 1);
    return of && { kind: "not", of };
  }

  #list(kind: "and" | "or", range: Range, depth: number): Constraints | undefined {
    const of: Constraints[] = [];
    for (const [field, at] of this.#fields(range) ?? [[-1, range] as const]) {
      const one = field === CONSTRAINTS ? this.read(at, depth + 1) : undefined;
      if (one === undefined) return undefined;
      of.push(one);
    }
    return { kind, of };
  }

  #single(range: Range): Constraints | undefined {
    const fields = this.#fields(range);
    if (fields === undefined) return undefined;
    const last = (...wanted: readonly number[]): readonly [number, Range] | undefined =>
      fields.findLast(([field]) => wanted.includes(field));
    const key = this.#text(last(KEY));
    const [how, at] = last(VALUE, EXISTS) ?? [];
    if (how === undefined || at === undefined)
      return this.#reject(
        `the one on ${JSON.stringify(key)} says neither a value nor that the key exists`,
      );
    return how === EXISTS
      ? { kind: "exists", key }
      : { kind: "equals", key, value: this.#text([how, at]) };
  }

  #text(field: readonly [number, Range] | undefined): string {
    return field === undefined ? "" : decodeText(this.#bytes, ...field[1]);
  }

  /**
   * Returns the fields of a message; each of them has to be a message or a text. A field of another
   * kind belongs to a newer API, so a reader that does not know it cannot tell which clients match.
   * undefined: there is such a field, or the bytes are not a message.
   */
  #fields([start, end]: Range): readonly (readonly [field: number, range: Range])[] | undefined {
    const fields: (readonly [number, Range])[] = [];
    const { outcome } = walkFields(
      this.#bytes,
      (field, from, to, wireType) => {
        fields.push([field, [from, to]]);
        return wireType === WireType.LENGTH_DELIMITED;
      },
      { start, end },
    );
    return outcome === "complete" ? fields : undefined;
  }

  #reject(fault: string): Constraints | undefined {
    this.fault = fault;
    return undefined;
  }
}

/**
 * Encodes a `DynamicParameterConstraints`, as resources and removals have it; `readConstraints`
 * reads it. Use it to put variants of a resource.
 */
export function encodeConstraints(constraints: Constraints): Uint8Array {
  switch (constraints.kind) {
    case "equals":
      return single(constraints.key, lengthDelimited(VALUE, constraints.value));
    case "exists":
      return single(constraints.key, lengthDelimited(EXISTS, ""));
    case "not":
      return lengthDelimited(TYPE.not, encodeConstraints(constraints.of));
    default:
      return lengthDelimited(
        TYPE[constraints.kind],
        concatBytes(
          constraints.of.map((one) => lengthDelimited(CONSTRAINTS, encodeConstraints(one))),
        ),
      );
  }
}

function single(key: string, how: Uint8Array): Uint8Array {
  const keyed = key === "" ? [] : [lengthDelimited(KEY, key)];
  return lengthDelimited(TYPE.single, concatBytes([...keyed, how]));
}
