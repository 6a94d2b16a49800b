import { fromBinary, toJson } from "@bufbuild/protobuf";
import type { AnyBytes, Reference } from "@xdstp/core";
import { walkList } from "@xdstp/core/wire";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import {
  locatorFromMessage,
  memberTypeOf,
  nameFromLocator,
  parseLocator,
  printName,
  type ResourceLocatorMessage,
  typeFromTypeUrl,
  typeUrlFromType,
} from "@xdstp/uri";

/** Returns the resources that a list collection names. undefined: the payload is not a list. Inline entries are part of the list. */
export function referencesOfList({ typeUrl, value }: AnyBytes): readonly Reference[] | undefined {
  const members = memberTypeOf(typeFromTypeUrl(typeUrl) ?? "");
  if (members === undefined) return undefined;
  const references: Reference[] = [];
  walkList(value, typeUrlFromType(members), (entry) => {
    const name = entry.kind === "locator" ? nameOf(entry.locator) : undefined;
    if (name !== undefined) references.push({ typeUrl: typeUrlFromType(members), name });
    return undefined;
  });
  return references;
}

/** The name that a locator leads to, from either of its forms. undefined: it is not a name of xdstp. */
function nameOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const read = text.startsWith("xdstp:") ? parseLocator(text) : locatorIn(bytes);
  return read?.ok === true && read.value.scheme === "xdstp"
    ? printName(nameFromLocator(read.value))
    : undefined;
}

function locatorIn(bytes: Uint8Array): ReturnType<typeof locatorFromMessage> | undefined {
  try {
    const json = toJson(ResourceLocatorSchema, fromBinary(ResourceLocatorSchema, bytes), {
      enumAsInteger: true,
      alwaysEmitImplicit: true,
    });
    return locatorFromMessage(json as unknown as ResourceLocatorMessage);
  } catch {
    return undefined;
  }
}
