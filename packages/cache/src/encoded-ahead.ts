import type { Resource } from "@xdstp/core";

import { contentVersion } from "./content-version.ts";
import { KeptResource } from "./kept-resource.ts";

/** By the very object that will be put: a copy of it with another name or without aliases is encoded when it is put. */
const encoded = new WeakMap<Resource, KeptResource>();

/** Encodes a resource before it is put. */
export function encodeAhead(resource: Resource): void {
  try {
    encoded.set(resource, encodeResource(resource));
  } catch {
    // It cannot be encoded. The commit checks it and says why.
  }
}

/** A resource as the cache keeps it, with its own version, or with that of its content where it has none (S-VER-4). */
export function keptResource(resource: Resource): KeptResource {
  return encoded.get(resource) ?? encodeResource(resource);
}

function encodeResource(resource: Resource): KeptResource {
  return new KeptResource(
    resource,
    resource.version === "" ? contentVersion(resource) : resource.version,
  );
}
