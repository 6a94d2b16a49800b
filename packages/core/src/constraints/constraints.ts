import type { Interest } from "../resource.ts";

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
  return new Set(valuesByKey(constraints).keys());
}

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

/** Constraints in one line, for people, as in `and(env=prod, not(version exists))`. Different constraints give different texts, so that it is a key too. */
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

/** Up to this number of assignments are tried. Variants as people write them need a few. */
const STEPS = 10_000;

/**
 * Whether a client could match both (S-DYN-4), and then with which parameters. Exact, as far as it goes: a key can have a value that is mentioned, another one, or be absent, and each is tried;
 * what is decided by the keys so far is not tried further. `none`: they exclude each other; `unknown`: it would have taken too long to find out.
 */
export function overlapOf(
  a: Constraints,
  b: Constraints,
): ReadonlyMap<string, string> | "none" | "unknown" {
  const both: Constraints = { kind: "and", of: [a, b] };
  const search = new Search(both, [...choicesOf(both)]);
  return search.from(0) ?? (search.steps > STEPS ? "unknown" : "none");
}

/** undefined: absent. */
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

  /** Parameters that match, with the first keys as they are chosen. */
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

  /** undefined: that depends on keys that are not chosen yet. */
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

  /** One that gives `decisive` decides; else all have to be known. */
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

/** What the keys can be, as far as the constraints can tell it apart: a value that they mention, absent, another value. */
function choicesOf(constraints: Constraints): ReadonlyMap<string, readonly Choice[]> {
  return new Map(
    Array.from(
      valuesByKey(constraints),
      ([key, values]) => [key, [...values, undefined, other(values)]] as const,
    ),
  );
}

/** The keys that constraints mention, and the values that they compare each with. */
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
