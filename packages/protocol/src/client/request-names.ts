import type { Interest } from "@xdstp/core";

/**
 * Returns the interests of a request as fields: names, and locators for interests with dynamic
 * parameters (C-DYN-1).
 */
export function requestNames(interests: readonly Interest[]): {
  readonly names: string[];
  readonly locators: { name: string; dynamicParameters: Record<string, string> }[];
} {
  const { names, locators }: ReturnType<typeof requestNames> = { names: [], locators: [] };
  for (const { name, parameters } of interests)
    if (parameters === undefined || parameters.size === 0) names.push(name);
    else locators.push({ name, dynamicParameters: Object.fromEntries(parameters) });
  return { names, locators };
}
