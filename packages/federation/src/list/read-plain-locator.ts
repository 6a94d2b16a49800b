import { walkFields, WireType } from "@xdstp/core/wire";
import type { ResourceLocatorMessage } from "@xdstp/uri";

const keys: Readonly<Partial<Record<number, "id" | "authority" | "resourceType">>> = {
  2: "id",
  3: "authority",
  4: "resourceType",
};

/** Reads a `xds.core.v3.ResourceLocator` that has no more than its id, authority and type, in ASCII: nearly all that lists have, of which there may be many. undefined: it is another one. */
export function readPlainLocator(bytes: Uint8Array): ResourceLocatorMessage | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (/[\x80-\xff]/.test(text)) return undefined;
  const read: { id?: string; authority?: string; resourceType?: string } = {};
  const { outcome } = walkFields(bytes, (field, start, end, wireType) => {
    const key = wireType === WireType.LENGTH_DELIMITED ? keys[field] : undefined;
    if (key !== undefined) read[key] = text.slice(start, end);
    return key !== undefined;
  });
  return outcome === "complete" ? read : undefined;
}
