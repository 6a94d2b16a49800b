import { parseLocator, printLocator, printName, type Locator } from "@xdstp/uri";

import type { InlineEntry, LocatedEntry } from "./read-list.ts";

/** The list that a member is of. */
export interface ListOfMembers {
  /** As it is asked for. */
  readonly name: string;
  /** Without `type.googleapis.com/`. */
  readonly memberType: string;
}

/**
 * The name of a member, which is the same whether it is located or inline (C-LIST-8). [000] lists the locators `xdstp://a/T/bar` and `xdstp://a/T/baz`, and then the same two as inline entries `bar` and `baz`:
 * so an inline entry is named by the authority of its list, the type of the members, and its own name as id; or by its own name, where that is an xdstp name. Empty: it has none.
 * A locator is named by what it asks for: without `alt`; one of an inline entry of another list with its `entry`.
 */
export function memberName(entry: InlineEntry | LocatedEntry, list: ListOfMembers): string {
  if (entry.kind === "inline") return inlineName(entry.name, list);
  const { locator } = entry;
  const own = entryOf(locator, list.name);
  return own === undefined ? printLocator({ ...locator, directives: locator.directives.filter(({ kind }) => kind === "entry") }) : inlineName(own, list);
}

function inlineName(name: string, { name: listName, memberType }: ListOfMembers): string {
  const own = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  if (own?.ok === true) return printLocator(own.value);
  const list = parseLocator(listName);
  if (name === "" || !list.ok || list.value.scheme !== "xdstp") return name;
  return printName({ scheme: "xdstp", authority: list.value.authority, resourceType: memberType, id: name, contextParams: new Map() });
}

/** The inline entry of this very list that a locator leads to. */
function entryOf(locator: Locator, listName: string): string | undefined {
  const directive = locator.directives.find(({ kind }) => kind === "entry");
  return directive?.kind === "entry" && printLocator({ ...locator, directives: [] }) === listName ? directive.entry : undefined;
}
