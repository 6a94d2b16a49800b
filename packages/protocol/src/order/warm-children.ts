import type { Entry, ResourceType, StoredResource } from "@xdstp/core";
import type { TypeHost } from "../stream/type-machine.ts";

/**
 * Sends the resources again that a client waits for after these entries, if they are subscribed on
 * the same stream (S-WARM-1).
 */
export function warmChildren(
  type: ResourceType | undefined,
  host: TypeHost,
  entries: readonly Entry[],
): void {
  for (const warms of type?.warms ?? []) {
    const child = host.sibling(warms.typeUrl);
    if (child === undefined) continue;
    for (const { resource } of entries)
      if (resource !== undefined) for (const name of namesToWarm(warms, resource)) child.warm(name);
  }
}

type Warms = NonNullable<ResourceType["warms"]>[number];

const known = new WeakMap<Warms, WeakMap<StoredResource, readonly string[]>>();

/** Returns the names that a resource waits for; computed once per resource. */
export function namesToWarm(warms: Warms, resource: StoredResource): readonly string[] {
  let byResource = known.get(warms);
  if (byResource === undefined) known.set(warms, (byResource = new WeakMap()));
  let names = byResource.get(resource);
  if (names === undefined) byResource.set(resource, (names = warms.names(resource.payload.value)));
  return names;
}
