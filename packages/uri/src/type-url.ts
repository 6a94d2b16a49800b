import { inType, skip } from "./percent-encoding.ts";

const prefix = "type.googleapis.com/";

/** The type URL of a resource type (B-TYPE-1). */
export function typeUrlFromType(resourceType: string): string {
  return prefix + resourceType;
}

/** The type URL that was read last: resources come by type. */
let known: { readonly typeUrl: string; readonly type: string | undefined } = {
  typeUrl: "",
  type: undefined,
};

/** The resource type of a type URL, as it is written in an xdstp name (B-TYPE-1); undefined when it is not a type URL, or the type is not allowed there (N-08). */
export function typeFromTypeUrl(typeUrl: string): string | undefined {
  if (typeUrl !== known.typeUrl) known = { typeUrl, type: readTypeUrl(typeUrl) };
  return known.type;
}

function readTypeUrl(typeUrl: string): string | undefined {
  if (!typeUrl.startsWith(prefix) || typeUrl.length === prefix.length) return undefined;
  return skip(typeUrl, prefix.length, inType) === typeUrl.length
    ? typeUrl.slice(prefix.length)
    : undefined;
}

const suffix = "Collection";

/** The type of the list collections of a type (B-LIST-1): `<T>Collection`. Takes and gives a resource type or a type URL. */
export function collectionTypeOf(memberType: string): string {
  return memberType + suffix;
}

/** The type of the members of a list collection, the way back from {@link collectionTypeOf}; undefined when the type is not a collection's. */
export function memberTypeOf(collectionType: string): string | undefined {
  return /[\w-]Collection$/.test(collectionType)
    ? collectionType.slice(0, -suffix.length)
    : undefined;
}
