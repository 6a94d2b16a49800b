/** Every host. */
export const anyHost = "*";

/** Whether a hostname of the Gateway API covers another one: `*.example.com` covers `a.example.com` and `*.b.example.com`, not `example.com`. */
export function covers(wide: string, narrow: string): boolean {
  if (wide === anyHost || wide === narrow) return true;
  return wide.startsWith("*.") && narrow.endsWith(wide.slice(1));
}

/** What two hostnames have in common; undefined: nothing. */
export function intersection(one: string, other: string): string | undefined {
  if (covers(one, other)) return other;
  return covers(other, one) ? one : undefined;
}

/** Sorts the more specific hostname first: one without a wildcard, then the longer one. */
export function bySpecificity(one: string, other: string): number {
  return exactLength(other) - exactLength(one) || length(other) - length(one);
}

function exactLength(hostname: string): number {
  return hostname.startsWith("*") ? 0 : hostname.length;
}

function length(hostname: string): number {
  return hostname === anyHost ? 0 : hostname.length;
}
