import { lengthDelimited } from "@xdstp/core/wire";

/** A `CollectionEntry` that holds the resource itself. */
export function inlineEntry(
  name: string,
  typeUrl: string,
  payload: Uint8Array,
  version = "1",
): Uint8Array {
  const any = Buffer.concat([lengthDelimited(1, typeUrl), lengthDelimited(2, payload)]);
  return lengthDelimited(
    1,
    lengthDelimited(
      2,
      Buffer.concat([
        lengthDelimited(1, name),
        lengthDelimited(2, version),
        lengthDelimited(3, any),
      ]),
    ),
  );
}

/** A `CollectionEntry` that says where the resource is. */
export function locatorEntry(authority: string, type: string, id: string): Uint8Array {
  return lengthDelimited(1, lengthDelimited(1, locatorOf(authority, type, id)));
}

/** An `xds.core.v3.ResourceLocator`. */
export function locatorOf(authority: string, type: string, id: string): Uint8Array {
  return Buffer.concat([
    lengthDelimited(2, id),
    lengthDelimited(3, authority),
    lengthDelimited(4, type),
  ]);
}

/** A list collection of these entries. */
export function listOf(...entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(entries);
}
