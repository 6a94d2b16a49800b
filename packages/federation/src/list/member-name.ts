import {
  nameKey,
  parseLocator,
  printLocator,
  printName,
  typeFromTypeUrl,
  type Locator,
} from "@xdstp/uri";

import type { InlineEntry, LocatedEntry } from "./read-list.ts";

/** What gives members their names. */
export interface NamingList {
  /** Without directives, printed. */
  readonly name: string;
  /** Absent: the list has an opaque name. */
  readonly authority?: string;
  /** Without `type.googleapis.com/`. */
  readonly memberType: string;
}

/** The list of a subscribed name. */
export function namingList(name: string, memberTypeUrl: string): NamingList {
  const memberType = typeFromTypeUrl(memberTypeUrl) ?? memberTypeUrl;
  const locator = parseLocator(name);
  return locator.ok && locator.value.scheme === "xdstp"
    ? { name: withoutDirectives(locator.value), authority: locator.value.authority, memberType }
    : { name: nameKey(name), memberType };
}

/**
 * The name of a member, which is the same whether it is located or inline (C-LIST-8). [000] lists the locators `xdstp://a/T/bar` and `xdstp://a/T/baz`, and then the same two as inline entries `bar` and `baz`:
 * so an inline entry is named by the authority of its list, the type of the members, and its own name as id; or by its own name, where that is an xdstp name. Empty: it has none.
 * A locator is named by what it asks for, without `alt`; one that leads to an inline entry of another list has its `entry` in its name.
 */
export function memberName(entry: InlineEntry | LocatedEntry, list: NamingList): string {
  if (entry.kind === "inline") return inlineName(entry.name, list);
  const { locator } = entry;
  const own = ownEntry(locator, list);
  return own === undefined
    ? printLocator({
        ...locator,
        directives: locator.directives.filter(({ kind }) => kind === "entry"),
      })
    : inlineName(own, list);
}

function inlineName(name: string, { authority, memberType }: NamingList): string {
  const own = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  if (own?.ok === true) return printLocator(own.value);
  return name === "" || authority === undefined
    ? name
    : printName({
        scheme: "xdstp",
        authority,
        resourceType: memberType,
        id: name,
        contextParams: new Map(),
      });
}

/** The name of the inline entry of this very list that a locator leads to. */
function ownEntry(locator: Locator, list: NamingList): string | undefined {
  const directive = locator.directives.find(({ kind }) => kind === "entry");
  return directive?.kind === "entry" && withoutDirectives(locator) === list.name
    ? directive.entry
    : undefined;
}

function withoutDirectives(locator: Locator): string {
  return printLocator({ ...locator, directives: [] });
}
