import { collectionTypeOf, isGlob, typeFromTypeUrl, typeOf } from "@xdstp/uri";

import type { ClientLimits } from "./client-limits.ts";
import type { ReceivedResource } from "./received.ts";

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Why a resource that was asked for cannot be taken, whatever its content; undefined: it can. The rest of its response is taken all the same (C-ACK-5). */
export function resourceFault(
  { name, key, version, payload, aliases, fault }: ReceivedResource,
  typeUrl: string,
  limits: ClientLimits,
): string | undefined {
  if (fault !== undefined) return fault;
  if (name === "") return "it has no name: of an unknown type, SotW needs the wrapper (B-WRAP-4)";
  if (name.length > limits.nameLength || version.length > limits.nameLength)
    return `its name or version is longer than ${limits.nameLength} characters (C-LIM-7)`;
  if (aliases !== undefined && aliases.length > limits.aliases)
    return `it has more than ${limits.aliases} aliases (C-LIM-7)`;
  const type = key.startsWith("xdstp:") ? typeOf(key) : undefined;
  if (key.startsWith("xdstp:") && type === undefined) return "its name is not an xdstp name";
  if (name === "*" || (type !== undefined && isGlob(key)))
    return "no resource can have the name of a collection (N-50)";
  const own = typeFromTypeUrl(typeUrl);
  if (type !== undefined && type !== own && (own === undefined || type !== collectionTypeOf(own)))
    return `its name has the type ${type} (B-TYPE-5)`;
  return payload === undefined ? undefined : payloadFault(payload.typeUrl, type, typeUrl);
}

function payloadFault(
  payload: string,
  type: string | undefined,
  typeUrl: string,
): string | undefined {
  if (payload === typeUrl || payload === REDIRECT) return undefined;
  if (
    type !== undefined &&
    payload === collectionTypeOf(typeUrl) &&
    type === typeFromTypeUrl(payload)
  )
    return undefined;
  return `its payload has the type ${JSON.stringify(payload)} (C-TYPE-4)`;
}
