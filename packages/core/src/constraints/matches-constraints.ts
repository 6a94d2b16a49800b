import type { Interest } from "../resource.ts";
import type { Constraints } from "./constraints.ts";

/** Whether a variant with these constraints is for a client with these parameters (B-DYN-3). Keys that no constraint mentions count for nothing. */
export function matchesConstraints(
  constraints: Constraints,
  parameters: Interest["parameters"],
): boolean {
  switch (constraints.kind) {
    case "equals":
      return parameters?.get(constraints.key) === constraints.value;
    case "exists":
      return parameters?.has(constraints.key) === true;
    case "and":
      return constraints.of.every((one) => matchesConstraints(one, parameters));
    case "or":
      return constraints.of.some((one) => matchesConstraints(one, parameters));
    case "not":
      return !matchesConstraints(constraints.of, parameters);
  }
}
