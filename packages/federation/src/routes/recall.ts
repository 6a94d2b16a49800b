import { XdsError, type Held, type Resource } from "@xdstp/core";

import { ownCopy, variantId } from "../links/kept.ts";
import type { Ask } from "./ask.ts";

/** Somebody follows what readers had under its own name until now, or as a member of a collection: what is held of it is kept for them too. */
export function recall(ask: Ask): void {
  const { route, typeUrl, interest, kept, answered } = ask;
  for (const link of route.links) for (const held of link.part.held(typeUrl, interest)) {
    if (held.resource !== undefined) kept.put(variantId(held), link, asGiven(held, held.resource));
  }
  if (answered && kept.size === 0 && ask.direct && ask.unavailable === undefined) ask.missing = new XdsError("NOT_FOUND", `${JSON.stringify(interest.name)} does not exist`, { typeUrl, resource: interest.name });
}

/** Readers ask for what others follow, by its own name: what is known of it is told. */
export function showKept({ route, typeUrl, interest, kept, missing, unavailable }: Ask): void {
  for (const { link, resource } of kept) void link.part.commit({ put: [{ typeUrl, resource }] });
  const [first] = route.links;
  if (missing !== undefined) void first?.part.commit({ remove: [{ typeUrl, name: interest.name, error: missing }] });
  if (unavailable !== undefined) unavailable.link.part.unavailable({ typeUrl, interest }, unavailable.error);
}

/** What came with the version that it came with. */
function asGiven({ name, version }: Held, { payload, ttlMs, expireMs, noStore, constraints, metadata }: Resource): Resource {
  return ownCopy({
    name, version, payload,
    ...(ttlMs !== undefined && { ttlMs }), ...(expireMs !== undefined && { expireMs }), ...(noStore !== undefined && { noStore }), ...(constraints !== undefined && { constraints }), ...(metadata !== undefined && { metadata }),
  });
}
