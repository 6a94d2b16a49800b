import type { Reference, ResourceType, StoredResource } from "@xdstp/core";

const known = new WeakMap<StoredResource, readonly Reference[]>();

/** What a resource refers to; read once per resource. */
export function referencesOf(
  { references }: ResourceType,
  resource: StoredResource,
): readonly Reference[] {
  let found = known.get(resource);
  if (found === undefined)
    known.set(resource, (found = references?.(resource.payload.value) ?? []));
  return found;
}
