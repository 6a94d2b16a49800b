import type { Constraints } from "./constraints.ts";

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
  const mentioned = new Map<string, Set<string>>();
  collect(constraints, mentioned);
  return new Map(
    [...mentioned].map(([key, values]) => [key, [...values, undefined, other(values)]] as const),
  );
}

function collect(constraints: Constraints, mentioned: Map<string, Set<string>>): void {
  if (constraints.kind === "and" || constraints.kind === "or")
    for (const one of constraints.of) collect(one, mentioned);
  else if (constraints.kind === "not") collect(constraints.of, mentioned);
  else {
    const values = mentioned.get(constraints.key) ?? new Set<string>();
    mentioned.set(
      constraints.key,
      constraints.kind === "equals" ? values.add(constraints.value) : values,
    );
  }
}

function other(values: ReadonlySet<string>): string {
  let text = "other";
  while (values.has(text)) text += "-other";
  return text;
}
