import { parseLocator, type Locator, type XdstpLocator } from "@xdstp/uri";

import type { FederationSource } from "../federation-source.ts";
import { routeId, sourcesFor } from "./routes.ts";

/**
 * Returns the sources for a name with a ConfigSource next to it. Opaque names, and names of the
 * authorities that it lists, are requested there; all others as without it (C-AUTH-1, C-AUTH-4,
 * C-AUTH-6). The ConfigSource also applies to the alternatives of the name. It is for programs that
 * follow references, as `@xdstp/client` does.
 * Returns `undefined` if the name, and each alternative of it, has the same servers without the
 * ConfigSource, so that one source keeps one stream (C-AGG-1).
 */
export function sourcesBeside(
  sources: readonly FederationSource[],
  name: string,
  ownSource: FederationSource,
):
  | {
      /** Equal for equal ConfigSources, even if they are written differently. */
      readonly id: string;
      /**
       * The sources for a separate federation: different sources may have different contents under
       * one opaque name.
       */
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

/**
 * Returns the authorities of a name and of its alternatives, which share one ConfigSource. `null`:
 * the name is opaque. Empty: the text is not a name.
 */
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
