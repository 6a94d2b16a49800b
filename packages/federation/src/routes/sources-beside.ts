import { parseLocator, type Locator, type XdstpLocator } from "@xdstp/uri";

import type { FederationSource } from "../federation-source.ts";
import { routeId, sourcesFor } from "./routes.ts";

/**
 * The sources for a name next to which a ConfigSource stands: opaque names, and those of authorities that it lists, are asked there, all others as ever (C-AUTH-1, C-AUTH-4, C-AUTH-6). It stands next to the alternatives of a name too. For whoever follows references, as `@xdstp/client` does.
 * undefined: the name, and each alternative of it, is asked of the very servers of which it would be asked without it, so that one source keeps one stream (C-AGG-1).
 */
export function sourcesBeside(
  sources: readonly FederationSource[],
  name: string,
  ownSource: FederationSource,
):
  | {
      /** Equal for ConfigSources that are equal, however they are written. */
      readonly id: string;
      /** For a federation of its own: contents of different sources under one opaque name are not one. */
      readonly sources: readonly FederationSource[];
    }
  | undefined {
  const counts = authoritiesIn(name).some((authority) => {
    const asked = sourcesFor(sources, authority, ownSource);
    return asked[0] === ownSource && routeId(asked) !== routeId(sourcesFor(sources, authority));
  });
  return counts
    ? {
        id: JSON.stringify([routeId([ownSource]), [...(ownSource.authorities ?? [])].sort()]),
        sources: around(sources, ownSource),
      }
    : undefined;
}

/** The authorities of a name and of its alternatives, which stand next to the same ConfigSource; null: it is opaque. Empty: it is not a name. */
export function authoritiesIn(name: string): readonly (string | null)[] {
  if (!name.startsWith("xdstp:")) return [null];
  const parsed = parseLocator(name);
  return parsed.ok ? placesOf(parsed.value).map(({ authority }) => authority) : [];
}

function placesOf(locator: Locator): readonly XdstpLocator[] {
  if (locator.scheme !== "xdstp") return [];
  return [
    locator,
    ...locator.directives.flatMap((directive) =>
      directive.kind === "alt" ? placesOf(directive.locator) : [],
    ),
  ];
}

function around(
  sources: readonly FederationSource[],
  { authorities = [], ...ownSource }: FederationSource,
): readonly FederationSource[] {
  const others = sources
    .filter(({ opaque }) => opaque !== true)
    .flatMap((source) => {
      const rest = source.authorities?.filter((authority) => !authorities.includes(authority));
      return rest === undefined
        ? [source]
        : rest.length === 0
          ? []
          : [{ ...source, authorities: rest }];
    });
  return [
    ...(authorities.length === 0 ? [] : [{ ...ownSource, authorities }]),
    { ...ownSource, opaque: true },
    ...others,
  ];
}
