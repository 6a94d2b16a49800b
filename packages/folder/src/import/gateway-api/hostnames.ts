/** Matches every host. */
export const anyHost = "*";

/** Returns true if a hostname of the Gateway API covers another one. Example: `*.example.com` covers `a.example.com` and `*.b.example.com`, but not `example.com`. */
export function covers(wide: string, narrow: string): boolean {
  if (wide === anyHost || wide === narrow) return true;
  return wide.startsWith("*.") && narrow.endsWith(wide.slice(1));
}

/** Returns the hostname that both hostnames cover. undefined: they have nothing in common. */
export function intersection(one: string, other: string): string | undefined {
  if (covers(one, other)) return other;
  return covers(other, one) ? one : undefined;
}

/** Sorts the more specific hostname first: one without a wildcard, then the longer one. */
export function bySpecificity(one: string, other: string): number {
  return exactLength(other) - exactLength(one) || length(other) - length(one);
}

/** Returns a function that finds the listener that a host belongs to: the one with the most specific hostname that covers it. */
export function createOwnerOf<T extends { readonly hostname: string }>(
  listeners: readonly T[],
): (hostname: string) => T | undefined {
  const owners = Map.groupBy(listeners, ({ hostname }) => hostname);
  return (hostname) => covering(hostname).flatMap((wide) => owners.get(wide) ?? [])[0];
}

/** Returns the hostnames that cover another one, the most specific first. Example: for `a.b.c` these are `a.b.c`, `*.b.c`, `*.c` and `*`. */
export function covering(hostname: string): readonly string[] {
  const [, ...parents] = hostname.split(".");
  const wild = parents.map((_, at) => `*.${parents.slice(at).join(".")}`);
  return [...new Set([hostname, ...wild, anyHost])];
}

function exactLength(hostname: string): number {
  return hostname.startsWith("*") ? 0 : hostname.length;
}

function length(hostname: string): number {
  return hostname === anyHost ? 0 : hostname.length;
}
