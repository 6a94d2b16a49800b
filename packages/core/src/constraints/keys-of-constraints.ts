import type { Constraints } from "./constraints.ts";

/** The keys that constraints mention. */
export function keysOfConstraints(constraints: Constraints): ReadonlySet<string> {
  const keys = new Set<string>();
  collect(constraints, keys);
  return keys;
}

function collect(constraints: Constraints, keys: Set<string>): void {
  if (constraints.kind === "and" || constraints.kind === "or")
    for (const one of constraints.of) collect(one, keys);
  else if (constraints.kind === "not") collect(constraints.of, keys);
  else keys.add(constraints.key);
}
