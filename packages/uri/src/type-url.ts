import { inType, skip } from "./percent-encoding.ts";

const prefix = "type.googleapis.com/";

/** Returns the type URL of a resource type (B-TYPE-1). */
export function typeUrlFromType(resourceType: string): string {
  return prefix + resourceType;
}

/** The type URL that was read last, since consecutive resources mostly have the same type. */
let known: { readonly typeUrl: string; readonly type: string | undefined } = {
  typeUrl: "",
  type: undefined,
};

/**
 * Returns the resource type of a type URL, as it is written in an xdstp name (B-TYPE-1). undefined:
 * it is not a type URL, or the type has characters that are not allowed there (N-08).
 */
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

/**
 * Returns the type of the list collections of a type (B-LIST-1): `<T>Collection`. Both are resource
 * types, or both are type URLs.
 */
export function collectionTypeOf(memberType: string): string {
  return memberType + suffix;
}

/**
 * Returns the type of the members of a list collection, the inverse of {@link collectionTypeOf}.
 * undefined: the type is not that of a list collection.
 */
export function memberTypeOf(collectionType: string): string | undefined {
  return /[\w-]Collection$/.test(collectionType)
    ? collectionType.slice(0, -suffix.length)
    : undefined;
}
