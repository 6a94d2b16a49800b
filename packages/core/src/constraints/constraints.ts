import type { Interest } from "../resource.ts";

/**
 * The clients that a variant of a resource is for (TP2): a condition on the dynamic parameters of
 * their subscriptions. The plain form of `DynamicParameterConstraints`.
 *
 * - `equals`: the key has exactly this value.
 * - `exists`: the key is present, with any value.
 * - `and`: all of them match. An empty list always matches.
 * - `or`: at least one of them matches. An empty list never matches.
 * - `not`: the condition does not match.
 */
export type Constraints =
  | { readonly kind: "equals"; readonly key: string; readonly value: string }
  | { readonly kind: "exists"; readonly key: string }
  | { readonly kind: "and"; readonly of: readonly Constraints[] }
  | { readonly kind: "or"; readonly of: readonly Constraints[] }
  | { readonly kind: "not"; readonly of: Constraints };

/** Returns the keys that constraints mention. */
export function keysOfConstraints(constraints: Constraints): ReadonlySet<string> {
  return new Set(valuesByKey(constraints).keys());
}

/**
 * Returns true if a variant with these constraints is for a client with these parameters (B-DYN-3).
 * Keys that no constraint mentions are ignored.
 */
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

/**
 * Prints constraints in one line for people, as in `and(env=prod, not(version exists))`. Different
 * constraints give different texts, so the text can be a map key.
 */
export function textOfConstraints(constraints: Constraints): string {
  switch (constraints.kind) {
    case "equals":
      return `${quoted(constraints.key)}=${quoted(constraints.value)}`;
    case "exists":
      return `${quoted(constraints.key)} exists`;
    case "not":
      return `not(${textOfConstraints(constraints.of)})`;
    default:
      return `${constraints.kind}(${constraints.of.map(textOfConstraints).join(", ")})`;
  }
}

function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : JSON.stringify(text);
}

/**
 * Returns why two variants of one name cannot exist together (S-DYN-4), and how to change that.
 * undefined: no conflict was found. A resource without constraints is a variant for every client.
 */
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

/** The greatest number of assignments that are tried. Constraints that people write need a few. */
const STEPS = 10_000;

/**
 * Returns parameters with which a client would match both constraints (S-DYN-4). `none`: they
 * exclude each other. `unknown`: the search was stopped, since it would have taken too long.
 * The search is exact: each key is tried with each value that is mentioned, with another value, and
 * absent. It does not continue where the keys so far decide the outcome.
 */
export function overlapOf(
  a: Constraints,
  b: Constraints,
): ReadonlyMap<string, string> | "none" | "unknown" {
  const both: Constraints = { kind: "and", of: [a, b] };
  const search = new Search(both, [...choicesOf(both)]);
  return search.from(0) ?? (search.steps > STEPS ? "unknown" : "none");
}

/** A value of a key. undefined: the key is absent. */
type Choice = string | undefined;

class Search {
  steps = 0;
  readonly #constraints: Constraints;
  readonly #choices: readonly (readonly [key: string, values: readonly Choice[]])[];
  readonly #chosen = new Map<string, Choice>();

  constructor(
    constraints: Constraints,
    choices: readonly (readonly [string, readonly Choice[]])[],
  ) {
    this.#constraints = constraints;
    this.#choices = choices;
  }

  /**
   * Returns parameters that match and that keep the choices made for the keys before `index`.
   * undefined: none were found.
   */
  from(index: number): ReadonlyMap<string, string> | undefined {
    if (++this.steps > STEPS) return undefined;
    const outcome = this.#evaluate(this.#constraints);
    if (outcome !== undefined) return outcome ? this.#parameters() : undefined;
    const [key, values] = this.#choices[index] ?? ["", []];
    for (const value of values) {
      this.#chosen.set(key, value);
      const found = this.from(index + 1);
      if (found !== undefined) return found;
    }
    this.#chosen.delete(key);
    return undefined;
  }

  #parameters(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#chosen].flatMap(([key, value]) =>
        value === undefined ? [] : [[key, value] as const],
      ),
    );
  }

  /** Returns undefined if the outcome depends on keys that are not chosen yet. */
  #evaluate(constraints: Constraints): boolean | undefined {
    switch (constraints.kind) {
      case "equals":
        return this.#chosen.has(constraints.key)
          ? this.#chosen.get(constraints.key) === constraints.value
          : undefined;
      case "exists":
        return this.#chosen.has(constraints.key)
          ? this.#chosen.get(constraints.key) !== undefined
          : undefined;
      case "not":
        return inverse(this.#evaluate(constraints.of));
      case "and":
        return this.#list(constraints.of, false);
      case "or":
        return this.#list(constraints.of, true);
    }
  }

  /**
   * Evaluates a list. One member with the value `decisive` decides the outcome, for instance false
   * in an `and`; otherwise all members have to be known.
   */
  #list(of: readonly Constraints[], decisive: boolean): boolean | undefined {
    let outcome: boolean | undefined = !decisive;
    for (const one of of) {
      const value = this.#evaluate(one);
      if (value === decisive) return decisive;
      if (value === undefined) outcome = undefined;
    }
    return outcome;
  }
}

function inverse(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

/**
 * Returns the choices for each key that the constraints can tell apart: each value that they
 * mention, absent, and one other value.
 */
function choicesOf(constraints: Constraints): ReadonlyMap<string, readonly Choice[]> {
  return new Map(
    Array.from(
      valuesByKey(constraints),
      ([key, values]) => [key, [...values, undefined, other(values)]] as const,
    ),
  );
}

/** Returns the keys that constraints mention, each with the values that it is compared with. */
function valuesByKey(
  constraints: Constraints,
  mentioned = new Map<string, Set<string>>(),
): ReadonlyMap<string, ReadonlySet<string>> {
  if (constraints.kind === "and" || constraints.kind === "or")
    for (const one of constraints.of) valuesByKey(one, mentioned);
  else if (constraints.kind === "not") valuesByKey(constraints.of, mentioned);
  else {
    const values = mentioned.get(constraints.key) ?? new Set<string>();
    mentioned.set(
      constraints.key,
      constraints.kind === "equals" ? values.add(constraints.value) : values,
    );
  }
  return mentioned;
}

function other(values: ReadonlySet<string>): string {
  let text = "other";
  while (values.has(text)) text += "-other";
  return text;
}
