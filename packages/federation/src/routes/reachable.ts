import type { XdsError } from "@xdstp/core";

import type { ServerLink } from "./server-link.ts";

/** A server cannot be reached, or can again. */
export function reachable(link: ServerLink, error: XdsError | undefined): void {
  link.failure = error;
  if (error === undefined) isWell(link);
  for (const route of [...link.routes]) {
    // Also an answer without anything in it ends the use of others.
    if (error === undefined && link.responded) route.onUpdate(link);
    route.onReachable();
  }
}

/** The same of the stream of one type, at a server that has one for each. */
export function typeReachable(
  link: ServerLink,
  typeUrl: string,
  error: XdsError | undefined,
): void {
  if (error === undefined) isWell(link, typeUrl);
  else link.typeFailures.set(typeUrl, error);
  for (const route of link.routes) route.onReachable();
}

/** Reports about parts of it are over. */
function isWell(link: ServerLink, typeUrl?: string): void {
  if (typeUrl === undefined) link.typeFailures.clear();
  else link.typeFailures.delete(typeUrl);
  link.part.unavailable(typeUrl === undefined ? {} : { typeUrl }, undefined);
  for (const route of link.routes) route.forgetTrouble(link, typeUrl);
}
