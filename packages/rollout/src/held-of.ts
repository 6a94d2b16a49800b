import type { Held, Put, Resource, ResourceSink, StoredResource } from "@xdstp/core";
import { contentVersion } from "@xdstp/cache";

/** Returns the name under which a resource is cached. */
export function nameOf({ resource, as }: Put): string {
  return as ?? resource.name;
}

/**
 * Returns the cached resource of a name, whichever server gave it. undefined: there is none, or the
 * name has variants (TP2).
 */
export function heldOf(
  sink: Pick<ResourceSink, "held">,
  typeUrl: string,
  name: string,
): StoredResource | undefined {
  const [only, ...others]: readonly Held[] = [...sink.held(typeUrl, { name })];
  return others.length > 0 || only?.constraints !== undefined ? undefined : only?.resource;
}

/**
 * Returns true if two resources have the same content, so that a client cannot accept one and
 * reject the other.
 */
export function isSameContent(a: Resource, b: Resource): boolean {
  return (
    a.payload.typeUrl === b.payload.typeUrl &&
    Buffer.compare(a.payload.value, b.payload.value) === 0 &&
    Buffer.compare(a.metadata ?? none, b.metadata ?? none) === 0 &&
    (a.aliases ?? []).join("\n") === (b.aliases ?? []).join("\n")
  );
}

const none = new Uint8Array();

/** Returns a put of the cached resource. */
export function putOf(typeUrl: string, name: string, held: StoredResource): Put {
  const { payload, aliases, noStore, metadata } = held;
  const version = contentVersion(held) === held.given ? "" : held.given;
  const resource: Resource = {
    name: held.name,
    version,
    payload,
    ...(aliases && { aliases }),
    ...(noStore === true && { noStore }),
    ...(metadata && { metadata }),
  };
  return { typeUrl, resource, as: name };
}
