import type { Interest } from "./resource.ts";

/**
 * A map key for an interest under a spelling, or a canonical key, of its name: the name itself, and dynamic parameters, which are part of it in any order (N-66).
 * Different interests have different keys, whatever is in their names.
 */
export function interestKey({ parameters }: Interest, name: string): string {
  const sorted =
    parameters === undefined || parameters.size === 0
      ? ""
      : JSON.stringify([...parameters].sort(([a], [b]) => (a < b ? -1 : 1)));
  if (name.includes("\n")) return `\n${JSON.stringify(name)}${sorted}`;
  return sorted === "" ? name : `${name}\n${sorted}`;
}
