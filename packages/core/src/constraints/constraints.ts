/**
 * Which clients a variant of a resource is for (TP2): a condition on the dynamic parameters that they subscribe with. The plain form of `DynamicParameterConstraints`.
 *
 * - `equals`: the key has this very value;
 * - `exists`: the key is there, with whatever value;
 * - `and`: all of them match; of none, always;
 * - `or`: one of them matches; of none, never;
 * - `not`: it does not match.
 */
export type Constraints =
  | { readonly kind: "equals"; readonly key: string; readonly value: string }
  | { readonly kind: "exists"; readonly key: string }
  | { readonly kind: "and"; readonly of: readonly Constraints[] }
  | { readonly kind: "or"; readonly of: readonly Constraints[] }
  | { readonly kind: "not"; readonly of: Constraints };

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
