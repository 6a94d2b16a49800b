import type { Interest } from "@xdstp/core";

/** A map key for an interest under a spelling, or a canonical key, of its name; dynamic parameters are part of it, in any order. */
export function interestKey({ parameters }: Interest, name: string): string {
  if (parameters === undefined || parameters.size === 0) return name;
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name}\n${JSON.stringify(sorted)}`;
}
