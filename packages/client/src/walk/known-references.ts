import type { Reference, ResourceSource, StoredResource } from "@xdstp/core";

import { referenceKey } from "./graph.ts";
import type { KeyedReference } from "./place.ts";

/** What resources refer to; each payload is read once, as long as its resource is kept. */
export type KnownReferences = (
  typeUrl: string,
  resource: StoredResource,
) => readonly KeyedReference[];

const readers = new WeakMap<ResourceSource, KnownReferences>();

/** The references in resources of a source, by the data of its types; one for all who walk it. */
export function knownReferences(source: ResourceSource): KnownReferences {
  const reader = readers.get(source) ?? createReader(source);
  readers.set(source, reader);
  return reader;
}

function createReader(source: ResourceSource): KnownReferences {
  const known = new WeakMap<StoredResource, readonly KeyedReference[]>();
  return (typeUrl, resource) => {
    const found =
      known.get(resource) ??
      (source.descriptor(typeUrl)?.references?.(resource.payload.value) ?? []).map((reference) => ({
        ...reference,
        key: keyOf(reference),
      }));
    known.set(resource, found);
    return found;
  };
}

/** With its ConfigSources, so that another one is another reference. */
function keyOf(reference: Reference): string {
  const { source, within } = reference;
  const key = referenceKey(reference);
  return source === undefined && within === undefined
    ? key
    : JSON.stringify([key, source?.join(), within && [within.source?.join()]]);
}
