import type { Reference, ResourceType, StoredResource } from "@xdstp/core";

const known = new WeakMap<StoredResource, readonly Reference[]>();

/** Returns the references in a resource; computed once per resource. */
export function referencesOf(
  { references }: ResourceType,
  resource: StoredResource,
): readonly Reference[] {
  let found = known.get(resource);
  if (found === undefined)
    known.set(resource, (found = references?.(resource.payload.value) ?? []));
  return found;
}
