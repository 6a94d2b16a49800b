import type { Interest } from "@xdstp/core";

/** The locators of a request, divided: interests with parameters, and plain names of the others. */
export interface Locators {
  /** The names that have no parameters. */
  readonly names: readonly string[];
  /** The names with parameters. */
  readonly interests: readonly Interest[];
}

const NONE: Locators = { names: [], interests: [] };

/** Divides the locators of a request. */
export function locatorsOf(
  locators: readonly {
    /** The resource name. */
    readonly name: string;
    /** The parameters of the locator; empty: none. */
    readonly dynamicParameters: Readonly<Record<string, string>>;
  }[],
): Locators {
  if (locators.length === 0) return NONE;
  const names: string[] = [];
  const interests: Interest[] = [];
  for (const { name, dynamicParameters } of locators) {
    const parameters = new Map(Object.entries(dynamicParameters));
    if (parameters.size === 0) names.push(name);
    else interests.push({ name, parameters });
  }
  return { names, interests };
}
