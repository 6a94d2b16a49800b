import { XdsError } from "@xdstp/core";
import { collectionTypeOf, isGlob, printLocator, typeFromTypeUrl, type Locator } from "@xdstp/uri";

import { locatorFault } from "../links/locator-fault.ts";

/** Why a list cannot have this member, which is then an error of that member alone (C-LIST-9): it is a collection itself (C-LIST-7), of another type, or has no server. undefined: it can. */
export function memberFault(memberTypeUrl: string, locator: Locator): XdsError | undefined {
  const fault = isNested(memberTypeUrl, locator)
    ? {
        text: `${printLocator(locator)} is a collection, which no list can have as its member; list its members`,
        rule: "C-LIST-7",
      }
    : locatorFault(memberTypeUrl, locator);
  return fault === undefined
    ? undefined
    : new XdsError(locator.scheme === "xdstp" ? "INVALID_ARGUMENT" : "UNIMPLEMENTED", fault.text, {
        typeUrl: memberTypeUrl,
        resource: printLocator(locator),
        rule: fault.rule,
      });
}

function isNested(memberTypeUrl: string, locator: Locator): boolean {
  if (isGlob(locator)) return true;
  const isEntry = locator.directives.some(({ kind }) => kind === "entry");
  return (
    locator.scheme === "xdstp" &&
    !isEntry &&
    locator.resourceType === collectionTypeOf(typeFromTypeUrl(memberTypeUrl) ?? "")
  );
}
