import { concatBytes, lengthDelimited } from "../wire/length-delimited.ts";
import type { Constraints } from "./constraints.ts";

/** Of `DynamicParameterConstraints`. */
const TYPE = { single: 1, or: 2, and: 3, not: 4 } as const;
/** Of `SingleConstraint`. */
const SINGLE = { key: 1, value: 2, exists: 3 } as const;
/** Of `ConstraintList`. */
const CONSTRAINTS = 1;

/** The encoded `DynamicParameterConstraints`, as resources and removals take it; `readConstraints` reads it. For who puts variants of a resource. */
export function encodeConstraints(constraints: Constraints): Uint8Array {
  switch (constraints.kind) {
    case "equals":
      return single(constraints.key, lengthDelimited(SINGLE.value, constraints.value));
    case "exists":
      return single(constraints.key, lengthDelimited(SINGLE.exists, ""));
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
  const keyed = key === "" ? [] : [lengthDelimited(SINGLE.key, key)];
  return lengthDelimited(TYPE.single, concatBytes([...keyed, how]));
}
