import type { Resource } from "@xdstp/core";

import { contentVersion } from "./content-version.ts";
import { KeptResource } from "./kept-resource.ts";

/** Encoded resources by the object that will be put. A copy of the object, for example with another name, is encoded when it is put. */
const encoded = new WeakMap<Resource, KeptResource>();

/** Encodes a resource before it is put. */
export function encodeAhead(resource: Resource): void {
  try {
    encoded.set(resource, encodeResource(resource));
  } catch {
    // The resource cannot be encoded. The commit rejects it with the reason.
  }
}

/** A resource as the cache stores it. Its version is its own, or the hash of its content where it does not have one (S-VER-4). */
export function keptResource(resource: Resource): KeptResource {
  return encoded.get(resource) ?? encodeResource(resource);
}

function encodeResource(resource: Resource): KeptResource {
  return new KeptResource(
    resource,
    resource.version === "" ? contentVersion(resource) : resource.version,
  );
}
