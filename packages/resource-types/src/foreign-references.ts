import type { Reference } from "@xdstp/core";
import { authorityOf } from "@xdstp/uri";

/**
 * Of references, those by an xdstp name of another authority than these: a client finds them only where it has a server for that authority, and one that understands xdstp (S-AUTH-10).
 * Opaque names are never among them. For whoever checks resources before they are put; a warning and no fault, since a client may have several servers.
 * @param references - As {@link referencesOf} tells them, or `references` of a type
 * @param authorities - Those that the server answers for
 */
export function foreignReferences(
  references: readonly Reference[],
  authorities: readonly string[],
): readonly Reference[] {
  return references.filter(({ name }) => {
    const authority = name.startsWith("xdstp:") ? authorityOf(name) : undefined;
    return authority !== undefined && !authorities.includes(authority);
  });
}
