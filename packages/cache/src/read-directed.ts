import {
  globOf,
  isGlob,
  memberTypeOf,
  nameFromLocator,
  parseLocator,
  printLocator,
  printName,
  type Directive,
  type XdstpLocator,
} from "@xdstp/uri";

import type { ReadName } from "./read-name.ts";

/** Reads a name with directives, as a client asks for one that leads to several places (C-ALT-1); with none it is not a name at all. */
export function readDirected(text: string, fault: string): ReadName {
  const parsed = text.includes("#") ? parseLocator(text) : undefined;
  if (parsed?.ok !== true || parsed.value.scheme !== "xdstp")
    return { kind: "invalid", key: text, fault };
  const locator = parsed.value;
  return {
    kind: isGlob(locator) ? "glob" : "name",
    key: printLocator(locator),
    parent: parentOf(locator),
    authority: locator.authority,
    type: typeIn(locator),
    fault,
    directed: true,
  };
}

/** What an entry of a list is, is what its members are (C-LIST-7). */
function typeIn({ resourceType, directives }: XdstpLocator): string {
  return (
    (directives.some(({ kind }) => kind === "entry") ? memberTypeOf(resourceType) : undefined) ??
    resourceType
  );
}

/** A member has the directives of its glob, as it has its parameters: it is none by itself, but what the glob has chosen (C-ALT-7). A name whose alternative is a name has no glob. */
function parentOf(locator: XdstpLocator): string | undefined {
  if (isGlob(locator) || !locator.directives.every(leadsToGlob)) return undefined;
  const glob = globOf(printName(nameFromLocator(locator)));
  const parsed = glob === undefined ? undefined : parseLocator(glob);
  return parsed?.ok === true
    ? printLocator({ ...parsed.value, directives: locator.directives })
    : undefined;
}

function leadsToGlob(directive: Directive): boolean {
  return directive.kind === "alt" && isGlob(directive.locator);
}
