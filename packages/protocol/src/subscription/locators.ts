import type { Interest } from "@xdstp/core";
import { excessOfNames } from "./excess-of-names.ts";
import { isLongerThan } from "./is-longer-than.ts";
import type { StreamLimits } from "../stream/limits.ts";

/** The locators of a request: those with parameters, and the names of the others, which say no more than a plain name. */
export interface Locators {
  /** The names that have no parameters. */
  readonly names: readonly string[];
  /** The names with parameters. */
  readonly interests: readonly Interest[];
}

const NONE: Locators = { names: [], interests: [] };

/** Tells the locators of a request apart. */
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

/** Why one of these is more than may be asked for, and by which limit: the name as every name, as many parameters as a name may have, and all of their text as long as a name; undefined: none is (S-LIM-4). */
export function excessOfLocators(
  interests: readonly Interest[],
  limits: StreamLimits,
): readonly [message: string, limit: "nameLength" | "parameters"] | undefined {
  for (const { name, parameters = new Map<string, string>() } of interests) {
    const excess = excessOfNames([name], limits);
    if (excess !== undefined) return excess;
    if (parameters.size > limits.parameters)
      return [`a locator has more than ${limits.parameters} dynamic parameters`, "parameters"];
    if (isLongerThan([...parameters].flat().join(""), limits.nameLength))
      return [
        `the dynamic parameters of a locator are longer than ${limits.nameLength} bytes`,
        "nameLength",
      ];
  }
  return undefined;
}
