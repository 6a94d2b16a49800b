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
