import type { Resource, StoredResource } from "@xdstp/core";

import { keptResource } from "./encoded-ahead.ts";

/**
 * Encodes a resource once, for all who will read it, as the cache does. A resource without a version gets the one of its content (S-VER-4).
 * It checks nothing: `put` does.
 */
export function keepResource(resource: Resource): StoredResource {
  return keptResource(resource);
}
