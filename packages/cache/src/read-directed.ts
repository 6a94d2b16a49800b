import { globOf, isGlob, memberTypeOf, nameFromLocator, parseLocator, printLocator, printName, type Directive, type Locator, type XdstpLocator } from "@xdstp/uri";

import type { ReadName } from "./read-name.ts";

/** Reads a name with directives, as a client asks for one that leads to several places (C-ALT-1); with none it is no name at all. */
export function readDirected(text: string, fault: string): ReadName {
  const parsed = text.includes("#") ? parseLocator(text) : undefined;
  if (parsed?.ok !== true || parsed.value.scheme !== "xdstp") return { kind: "invalid", key: text, fault };
  const locator = parsed.value;
  return { kind: isGlob(locator) ? "glob" : "name", key: printLocator(locator), parent: parentOf(locator), authority: locator.authority, type: typeIn(locator), fault, directed: true };
}

/** What an entry of a list is, is what its members are (C-LIST-7). */
function typeIn({ resourceType, directives }: XdstpLocator): string {
  return (directives.some(({ kind }) => kind === "entry") ? memberTypeOf(resourceType) : undefined) ?? resourceType;
}

/** The glob with the same alternatives, so that a member of the one has the member of the other as its alternative: all of them have the same last segment. */
function parentOf(locator: XdstpLocator): string | undefined {
  const glob = globOfLocator(locator, segmentOf(locator));
  return glob === undefined ? undefined : printLocator(glob);
}

function globOfLocator(locator: Locator, segment: string): XdstpLocator | undefined {
  if (locator.scheme !== "xdstp" || segmentOf(locator) !== segment) return undefined;
  const glob = globOf(printName(nameFromLocator(locator)));
  const parsed = glob === undefined ? undefined : parseLocator(glob);
  if (parsed?.ok !== true || parsed.value.scheme !== "xdstp") return undefined;
  const directives = locator.directives.map((directive) => globDirective(directive, segment));
  return directives.includes(undefined) ? undefined : { ...parsed.value, directives: directives as Directive[] };
}

function globDirective(directive: Directive, segment: string): Directive | undefined {
  const locator = directive.kind === "alt" ? globOfLocator(directive.locator, segment) : undefined;
  return locator === undefined ? undefined : { kind: "alt", locator };
}

function segmentOf({ id }: XdstpLocator): string {
  return id.slice(id.lastIndexOf("/") + 1);
}
