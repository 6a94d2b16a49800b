import { isGlob } from "./glob-of.ts";
import type { Locator } from "./locator.ts";
import { printLocator } from "./print-name.ts";
import { collectionTypeOf } from "./type-url.ts";

/** The reason why a locator cannot be used. */
export interface LocatorFault {
  /** The locator and the reason, for people. */
  readonly text: string;
  /** The id of the broken rule. Absent: the fault does not belong to a single rule. */
  readonly rule?: string;
}

/**
 * Returns why a locator cannot lead to a resource of a type. undefined: it can.
 * The locator and its alternatives have to have this type (C-REDIR-5, C-ALT-7), or name an entry of
 * a list of it (C-LIST-7). The alternative of a glob has to be a glob, and that of another name
 * must not be one. A `file` locator has no type.
 */
export function locatorFault(resourceType: string, locator: Locator): LocatorFault | undefined {
  const isEntry = locator.directives.some(({ kind }) => kind === "entry");
  const expected = isEntry ? collectionTypeOf(resourceType) : resourceType;
  if (locator.scheme !== "file" && locator.resourceType !== expected)
    return {
      text: `${printLocator(locator)} has the type ${locator.resourceType}; it has to be ${expected}`,
    };
  if (isEntry && isGlob(locator))
    return { text: `${printLocator(locator)} is a glob, which has no entries` };
  for (const directive of locator.directives) {
    const fault =
      directive.kind === "alt"
        ? altFault(resourceType, isGlob(locator), directive.locator)
        : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function altFault(resourceType: string, ofGlob: boolean, alt: Locator): LocatorFault | undefined {
  const fault = locatorFault(resourceType, alt);
  if (fault !== undefined) return { ...fault, text: `its alternative ${fault.text}` };
  return isGlob(alt) === ofGlob
    ? undefined
    : {
        text: `its alternative ${printLocator(alt)} is ${ofGlob ? "not a glob" : "a glob"}`,
        rule: "C-ALT-7",
      };
}
