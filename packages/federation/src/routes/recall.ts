import type { Held, Resource } from "@xdstp/core";
import { globMatches, nameKey } from "@xdstp/uri";

import { ownCopy, variantId } from "../links/kept.ts";
import { notFound, covers } from "./ask.ts";
import type { Ask } from "./route.ts";

/**
 * Keeps the cached resources of a name for its first follower. They may be cached under the name
 * itself or as members of a collection.
 */
export function recall(ask: Ask): void {
  const { route, typeUrl, interest, key, kept } = ask;
  // A resource that is still cached under the name of a redirect arrived before the redirect.
  if (route.redirect(typeUrl, key) !== undefined) return;
  let isHeld = false;
  for (const link of route.links)
    for (const held of link.part.held(typeUrl, interest)) {
      if (held.resource === undefined) continue;
      isHeld = true;
      // The members of a glob are names of their own, and each is kept under its own name.
      if (ask.kind === "name") kept.put(variantId(held), link, asGiven(held, held.resource));
    }
  // Other subscriptions of the name have other parameters (TP2).
  for (const other of route.asks.ofName(typeUrl, key)) if (other !== ask) kept.share(other.kept);
  const isMissing =
    !isHeld &&
    kept.size === 0 &&
    ask.direct &&
    route.answers.has(ask) &&
    ask.unavailable === undefined;
  if (isMissing) ask.missing = notFound(typeUrl, interest.name);
}

/** Returns the known members of a glob: their names, by key. */
export function gatheredIn({ route, typeUrl, interest, key }: Ask): ReadonlyMap<string, string> {
  const held = route.links.flatMap((link) =>
    Array.from(link.part.held(typeUrl, interest), ({ name }) => name),
  );
  const redirects = Array.from(route.redirects.ofType(typeUrl), ({ name }) => name);
  const followed = [...route.asks.followed]
    .filter((ask) => ask.typeUrl === typeUrl && ask.kept.size > 0)
    .map((ask) => ask.interest.name);
  return new Map(
    [...held, ...redirects, ...followed]
      .filter((name) => globMatches(key, name))
      .map((name) => [nameKey(name), name]),
  );
}

/**
 * Delivers resources that are kept for followers to a new subscription of readers, which requests
 * the name itself or a collection that contains it.
 */
export function showKept(ask: Ask): void {
  const { route, typeUrl } = ask;
  for (const followed of ask.kind === "name"
    ? [ask]
    : [...route.asks.followed].filter(
        (other) => other.typeUrl === typeUrl && covers(ask, other.key),
      ))
    show(followed, ask.kind === "name");
}

function show(
  { route, typeUrl, interest, kept, missing, unavailable }: Ask,
  isName: boolean,
): void {
  for (const { link, resource } of kept.lasting())
    void link.part.commit({ put: [{ typeUrl, resource }] });
  if (!isName) return;
  if (missing !== undefined)
    void route.links[0]?.part.commit({
      remove: [{ typeUrl, name: interest.name, error: missing }],
    });
  if (unavailable !== undefined)
    unavailable.link.part.unavailable({ typeUrl, interest }, unavailable.error);
}

/** Returns a resource with the version that the server gave it. */
function asGiven(
  { name, version, expireMs }: Held,
  { payload, ttlMs, noStore, constraints, metadata }: Resource,
): Resource {
  return ownCopy({
    name,
    version,
    payload,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(expireMs !== undefined && { expireMs }),
    ...(noStore !== undefined && { noStore }),
    ...(constraints !== undefined && { constraints }),
    ...(metadata !== undefined && { metadata }),
  });
}
