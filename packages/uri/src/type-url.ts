import { inType, skip } from "./character-set.ts";

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
