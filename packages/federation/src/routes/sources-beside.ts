import { parseLocator } from "@xdstp/uri";

import type { FederationSource } from "../federation-source.ts";
import { routeId, sourcesFor } from "./routes.ts";

/** Who is asked for names that stand beside a ConfigSource. */
export interface SourcesBeside {
  /** Equal for ConfigSources that are equal, however they are written. */
  readonly id: string;
  /** For a federation of its own: contents of different sources under one opaque name are not one. */
  readonly sources: readonly FederationSource[];
}

/**
 * The sources for a name beside which a ConfigSource stands: opaque names, and those of authorities that it lists, are asked there, all others as ever (C-AUTH-1, C-AUTH-4, C-AUTH-6). For whoever follows references, as `@xdstp/client` does.
 * undefined: the name is asked of the very servers of which it would be asked without it, so that one source keeps one stream (C-AGG-1).
 */
export function sourcesBeside(sources: readonly FederationSource[], name: string, beside: FederationSource): SourcesBeside | undefined {
  const authority = authorityIn(name);
  if (authority === undefined) return undefined;
  const asked = sourcesFor(sources, authority, beside);
  if (asked[0] !== beside || routeId(asked) === routeId(sourcesFor(sources, authority))) return undefined;
  return { id: JSON.stringify([routeId(asked), [...beside.authorities ?? []].sort()]), sources: around(sources, beside) };
}

/** null: the name is opaque; undefined: it is none. */
function authorityIn(name: string): string | null | undefined {
  if (!name.startsWith("xdstp:")) return null;
  const parsed = parseLocator(name);
  return parsed.ok && parsed.value.scheme === "xdstp" ? parsed.value.authority : undefined;
}

function around(sources: readonly FederationSource[], { authorities = [], ...beside }: FederationSource): readonly FederationSource[] {
  const others = sources.filter(({ opaque }) => opaque !== true).flatMap((source) => {
    const rest = source.authorities?.filter((authority) => !authorities.includes(authority));
    return rest === undefined ? [source] : rest.length === 0 ? [] : [{ ...source, authorities: rest }];
  });
  return [...(authorities.length === 0 ? [] : [{ ...beside, authorities }]), { ...beside, opaque: true }, ...others];
}
