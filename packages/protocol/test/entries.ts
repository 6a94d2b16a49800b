import type { Entry, StoredResource } from "@xdstp/core";

/** A resource as a cache would store it, as far as the parts of the server read it. */
export function storedResource(
  name: string,
  payload: Uint8Array = new Uint8Array(),
): StoredResource {
  return {
    name,
    version: "1",
    given: "1",
    payload: { typeUrl: "type.googleapis.com/a.B", value: payload },
    wire: new Uint8Array(),
    bare: 0,
    any: [0, 0],
    hash: 0,
  };
}

/** An entry with a resource. */
export function added(name: string, revision = 1): Entry {
  return { revision, since: revision, superseded: false, name, resource: storedResource(name) };
}

/** An entry without a resource. */
export function removed(name: string, revision = 1): Entry {
  return { revision, since: revision, superseded: false, name };
}
