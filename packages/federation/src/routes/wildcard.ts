import type { FederationSource } from "../federation-source.ts";
import { createAuthorityReader } from "./read-authority.ts";
import { defaultOf, routeId, sourcesFor } from "./routes.ts";

/** Which names `*` covers: it is asked of whoever answers for opaque names, so it has all of these and of what they answer for, and nothing of others. Gives the same answer for a name each time. */
export function createWildcard(sources: readonly FederationSource[]): (name: string) => boolean {
  const readAuthority = createAuthorityReader();
  const own = idFor(sources, null);
  const listed = new Map(
    sources
      .flatMap(({ authorities = [] }) => authorities)
      .map((authority) => [authority, idFor(sources, authority) === own]),
  );
  const standard = defaultOf(sources);
  const rest = standard.length > 0 && routeId(standard) === own;
  return (name) => {
    const authority = readAuthority(name);
    return authority === null || (listed.get(authority) ?? rest);
  };
}

function idFor(sources: readonly FederationSource[], authority: string | null): string {
  return routeId(sourcesFor(sources, authority));
}
