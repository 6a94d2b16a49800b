import { collectionTypeOf, isGlob, typeFromTypeUrl, typeOf } from "@xdstp/uri";

import type { Fault, Interest } from "@xdstp/core";
import type { ClientLimits } from "./client-limits.ts";
import { type ReceivedResource, type ReceivedResponse, receivedKey } from "./received.ts";

/** The type URL of a redirect (C-REDIR-1). */
const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/**
 * Returns why an interest of this type cannot be requested from any server (B-TYPE-5). undefined:
 * it can.
 */
export function interestFault({ name }: Interest, typeUrl: string): Fault | undefined {
  if (!name.startsWith("xdstp:"))
    return name === ""
      ? { text: "a resource cannot have an empty name", rule: "S-SUB-6" }
      : undefined;
  const type = typeOf(name);
  const own = typeFromTypeUrl(typeUrl);
  if (type === undefined)
    return { text: `${JSON.stringify(name)} is not an xdstp name, so it is not requested` };
  return type === own || (own !== undefined && type === collectionTypeOf(own))
    ? undefined
    : {
        text: `${JSON.stringify(name)} has the type ${type}, so it is not requested as ${typeUrl}`,
        rule: "B-TYPE-5",
      };
}

/**
 * Returns why a response is rejected as a whole (C-ACK-6, C-DUP-2, C-LIM-7). undefined: each of its
 * resources is checked by itself.
 */
export function responseFault(
  { fault, resources, removed, errors }: ReceivedResponse,
  { responseEntries }: ClientLimits,
): Fault | undefined {
  if (fault !== undefined) return { text: fault };
  if (resources.length + removed.length + errors.length > responseEntries)
    return {
      text: `it has more than ${responseEntries} entries, which is the most that this client accepts in one response`,
      rule: "C-LIM-7",
    };
  if (resources.length + removed.length < 2) return undefined;
  // A resource without a readable name is invalid by itself, so it is not compared with the others.
  const added = new Set<string>();
  for (const resource of resources) {
    const before = added.size;
    if (resource.name !== "" && added.add(receivedKey(resource)).size === before)
      return { text: `it has ${JSON.stringify(resource.name)} twice`, rule: "C-DUP-2" };
  }
  const both = removed.find((name) => added.has(receivedKey(name)));
  return both === undefined
    ? undefined
    : { text: `it both has and removes ${JSON.stringify(both.name)}`, rule: "C-DUP-2" };
}

/**
 * Returns why a requested resource cannot be accepted, whatever its content. undefined: it can. The
 * rest of its response is accepted nevertheless (C-ACK-5).
 */
export function resourceFault(
  { name, key, version, payload, aliases, fault }: ReceivedResource,
  typeUrl: string,
  limits: ClientLimits,
): Fault | undefined {
  if (fault !== undefined) return { text: fault };
  if (name === "")
    return { text: "it has no name: of an unknown type, SotW needs the wrapper", rule: "B-WRAP-4" };
  if (name.length > limits.nameLength || version.length > limits.nameLength)
    return {
      text: `its name or version is longer than ${limits.nameLength} characters`,
      rule: "C-LIM-7",
    };
  if (aliases !== undefined && aliases.length > limits.aliases)
    return { text: `it has more than ${limits.aliases} aliases`, rule: "C-LIM-7" };
  const type = key.startsWith("xdstp:") ? typeOf(key) : undefined;
  if (key.startsWith("xdstp:") && type === undefined)
    return { text: "its name is not an xdstp name" };
  if (name === "*" || (type !== undefined && isGlob(key)))
    return { text: "no resource can have the name of a collection", rule: "N-50" };
  const own = typeFromTypeUrl(typeUrl);
  if (type !== undefined && type !== own && (own === undefined || type !== collectionTypeOf(own)))
    return { text: `its name has the type ${type}`, rule: "B-TYPE-5" };
  return payload === undefined ? undefined : payloadFault(payload.typeUrl, type, typeUrl);
}

function payloadFault(
  payload: string,
  type: string | undefined,
  typeUrl: string,
): Fault | undefined {
  if (payload === typeUrl || payload === REDIRECT) return undefined;
  if (
    type !== undefined &&
    payload === collectionTypeOf(typeUrl) &&
    type === typeFromTypeUrl(payload)
  )
    return undefined;
  return { text: `its payload has the type ${JSON.stringify(payload)}`, rule: "C-TYPE-4" };
}
