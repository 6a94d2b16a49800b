import {
  type Locator,
  nameKey,
  parseLocator,
  printLocator,
  printName,
  typeFromTypeUrl,
} from "@xdstp/uri";

import type { ListMember, ListPart } from "./list-member.ts";
import type { InlineEntry, LocatedEntry } from "./read-list.ts";

/**
 * The members of a list in order. A change of one member copies the array, and reads no other
 * member.
 */
export class MemberIndex {
  /** The same array until a member changes. */
  members: readonly ListMember[] = [];
  #places = new Map<ListPart, number>();
  readonly #woken = new Set<ListPart>();
  readonly #unsettled = new Set<ListPart>();
  /**
   * The indices that have changed since an array was `members`. `undefined`: the order has changed
   * too.
   */
  #since: { readonly members: readonly ListMember[]; readonly places: Set<number> | undefined } = {
    members: [],
    places: new Set(),
  };

  /** True if something is known of each member. */
  get settled(): boolean {
    return this.#unsettled.size === 0;
  }

  /** Replaces the parts, and reads all of them. */
  replace(order: readonly ListPart[]): void {
    this.#places = new Map(order.map((part, place) => [part, place]));
    this.#woken.clear();
    this.#unsettled.clear();
    for (const part of order) if (!part.settled) this.#unsettled.add(part);
    const members = order.map(({ member }) => member);
    if (
      members.length === this.members.length &&
      members.every((member, place) => member === this.members[place])
    )
      return;
    this.members = members;
    this.#since = { members: this.#since.members, places: undefined };
  }

  /** Marks a member that may have changed. */
  wake(part: ListPart): void {
    this.#woken.add(part);
  }

  /** Reads the members that may have changed. */
  look(): void {
    let members: ListMember[] | undefined;
    for (const part of this.#woken) {
      const place = this.#places.get(part);
      if (place === undefined) continue;
      const { member } = part;
      if (part.settled) this.#unsettled.delete(part);
      else this.#unsettled.add(part);
      if (member === this.members[place]) continue;
      members ??= this.members.slice();
      members[place] = member;
      this.#since.places?.add(place);
    }
    this.#woken.clear();
    if (members !== undefined) this.members = members;
  }

  /**
   * Returns the indices that have changed since `before` was `members`, for one reader.
   * `undefined`: any may have changed.
   */
  changedSince(before: readonly ListMember[]): readonly number[] | undefined {
    const { members, places } = this.#since;
    this.#since = { members: this.members, places: new Set() };
    return before === members && places !== undefined
      ? [...places].sort((one, other) => one - other)
      : undefined;
  }
}

/** The parts of a list that determine the names of its members. */
export interface NamingList {
  /** The printed name without directives. */
  readonly name: string;
  /** Absent: the list has an opaque name. */
  readonly authority?: string;
  /** The type without `type.googleapis.com/`. */
  readonly memberType: string;
}

/** Returns the parts of a subscribed name of a list. */
export function namingList(name: string, memberTypeUrl: string): NamingList {
  const memberType = typeFromTypeUrl(memberTypeUrl) ?? memberTypeUrl;
  const locator = parseLocator(name);
  return locator.ok && locator.value.scheme === "xdstp"
    ? { name: withoutDirectives(locator.value), authority: locator.value.authority, memberType }
    : { name: nameKey(name), memberType };
}

/**
 * Returns the name of a member. It is the same for an inline and for a located member (C-LIST-8):
 * [000] lists the locators `xdstp://a/T/bar` and `xdstp://a/T/baz`, and then the same two resources
 * as inline entries `bar` and `baz`.
 * So the name of an inline entry has the authority of its list, the type of the members, and the
 * name of the entry as id. An entry whose name is an xdstp name keeps it. Empty: the entry has no
 * name.
 * A locator keeps its name without `alt`. If it leads to an inline entry of another list, its name
 * includes the directive `entry`.
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

/** Returns the name of the inline entry if a locator leads to an entry of this same list. */
function ownEntry(locator: Locator, list: NamingList): string | undefined {
  const directive = locator.directives.find(({ kind }) => kind === "entry");
  return directive?.kind === "entry" && withoutDirectives(locator) === list.name
    ? directive.entry
    : undefined;
}

function withoutDirectives(locator: Locator): string {
  return printLocator({ ...locator, directives: [] });
}
