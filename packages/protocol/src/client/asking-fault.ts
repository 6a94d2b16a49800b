import { collectionTypeOf, typeFromTypeUrl, typeOf } from "@xdstp/uri";

import type { Interest } from "@xdstp/core";

/** Why a server cannot be asked for this under this type (B-TYPE-5); undefined: it can. */
export function askingFault({ name }: Interest, typeUrl: string): string | undefined {
  if (!name.startsWith("xdstp:"))
    return name === "" ? "nothing has an empty name (S-SUB-6)" : undefined;
  const type = typeOf(name);
  const own = typeFromTypeUrl(typeUrl);
  if (type === undefined)
    return `${JSON.stringify(name)} is not an xdstp name, so it is not asked for`;
  return type === own || (own !== undefined && type === collectionTypeOf(own))
    ? undefined
    : `${JSON.stringify(name)} has the type ${type}, so it is not asked for as ${typeUrl} (B-TYPE-5)`;
}
