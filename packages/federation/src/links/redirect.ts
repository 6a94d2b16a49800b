import type { Fault, Resource } from "@xdstp/core";
import { readRedirect } from "@xdstp/protos/xds";
import { isGlob, type Locator, type XdstpLocator } from "@xdstp/uri";

import { locatorFault } from "./locator-fault.ts";
import { locatorOf } from "./locator-of.ts";

/** The type URL of a redirect (C-REDIR-1). */
export const REDIRECT_TYPE_URL = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** A resource that leads elsewhere. */
export function isRedirect({ payload }: Resource, typeUrl: string): boolean {
  return payload.typeUrl === REDIRECT_TYPE_URL && typeUrl !== REDIRECT_TYPE_URL;
}

/** Where a redirect leads; or why it is rejected: it is unreadable, of another type (C-REDIR-5), a glob (C-REDIR-6), of another scheme (C-REDIR-8). */
export function redirectTarget(typeUrl: string, payload: Uint8Array): XdstpLocator | Fault {
  const read = readRedirect(payload);
  if (!read.ok) return { text: `the redirect cannot be read: ${read.reason}` };
  const locator = locatorOf(read.value);
  if ("text" in locator) return { ...locator, text: `the redirect leads nowhere: ${locator.text}` };
  return faultOf(typeUrl, locator) ?? (locator as XdstpLocator);
}

function faultOf(typeUrl: string, locator: Locator): Fault | undefined {
  const fault =
    locatorFault(typeUrl, locator) ??
    (isGlob(locator) ? { text: "its target is a glob", rule: "C-REDIR-6" } : undefined);
  return fault === undefined
    ? undefined
    : { ...fault, text: `the redirect is rejected: ${fault.text}` };
}
