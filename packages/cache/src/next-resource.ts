import type { Resource } from "@xdstp/core";

import { contentVersion } from "./content-version.ts";
import { keptResource, KeptResource } from "./kept-resource.ts";
import type { LastVersion } from "./name-record.ts";

/** The result of a put. */
export interface NextResource {
  /** The new resource. Absent: nothing changes. */
  readonly resource?: KeptResource;
  /** True if the version was used before for other content (B-VER-5). */
  readonly reused?: boolean;
}

/**
 * Returns the resource that a name has after a put. Equal content is not a change. A version that
 * was used before for other bytes is made unique (`version~hash`).
 * `last` counts if nothing is cached, and for the other variants of the name (TP2).
 * A different TTL or cache control is a change, and the version stays (S-TTL-7).
 */
export function nextResource(
  held: KeptResource | undefined,
  last: LastVersion | undefined,
  resource: Resource,
): NextResource {
  const same = held?.hasContentOf(resource) === true;
  if (held !== undefined && same && resource.version === held.stated)
    return unlessEqual(held, resource, held.version);
  if (resource.version === "") return { resource: keptResource(resource) };
  const reused =
    isReused(last, resource) ||
    (held !== undefined &&
      !same &&
      (resource.version === held.given || resource.version === held.version));
  if (reused)
    return {
      resource: new KeptResource(resource, `${resource.version}~${contentVersion(resource)}`),
      reused,
    };
  return held !== undefined && same
    ? unlessEqual(held, resource, resource.version)
    : { resource: keptResource(resource) };
}

/**
 * Returns what is stored of a resource that is removed. undefined: nothing, since a version that
 * the cache derived cannot be reused for other content.
 */
export function lastVersion(held: KeptResource): LastVersion | undefined {
  return held.stated === "" ? undefined : { given: held.stated, digest: contentVersion(held) };
}

function isReused(last: LastVersion | undefined, resource: Resource): boolean {
  return last?.given === resource.version && last.digest !== contentVersion(resource);
}

function unlessEqual(held: KeptResource, resource: Resource, version: string): NextResource {
  const equal =
    held.version === version &&
    held.name === resource.name &&
    held.ttlMs === resource.ttlMs &&
    (held.noStore ?? false) === (resource.noStore ?? false);
  return equal ? {} : { resource: new KeptResource(resource, version) };
}
