import { type Constraints, keysOfConstraints } from "./constraints.ts";
import { overlapOf } from "./overlap-of.ts";
import { textOfConstraints } from "./text-of-constraints.ts";

/** Why two variants of one name cannot exist together (S-DYN-4), with the way out; undefined: they can, as far as can be determined. A resource without constraints is a variant for everyone. */
export function conflictOf(a: Constraints, b: Constraints): string | undefined {
  const both = `the variants ${named(a)} and ${named(b)}`;
  const odd = [...keysOfConstraints(a).symmetricDifference(keysOfConstraints(b))];
  if (odd.length > 0)
    return `${both} constrain different keys; let both mention ${odd.map((key) => JSON.stringify(key)).join(", ")}, for instance whether it exists`;
  const overlap = overlapOf(a, b);
  return typeof overlap === "string"
    ? undefined
    : `${both} both match ${JSON.stringify(Object.fromEntries(overlap))}; let them exclude each other`;
}

function named(constraints: Constraints): string {
  return constraints.kind === "and" && constraints.of.length === 0
    ? "without constraints"
    : textOfConstraints(constraints);
}
