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

/** The members of a list in their order. A change of one of them costs the same however many there are: but for a copy of the array no other one is looked at. */
export class MemberIndex {
  /** The same array until something of it changes. */
  members: readonly ListMember[] = [];
  #places = new Map<ListPart, number>();
  readonly #woken = new Set<ListPart>();
  readonly #unsettled = new Set<ListPart>();
  /** Which places have changed since an array was `members`; undefined: so has the order. */
  #since: { readonly members: readonly ListMember[]; readonly places: Set<number> | undefined } = {
    members: [],
    places: new Set(),
  };

  /** Something is known of each. */
  get settled(): boolean {
    return this.#unsettled.size === 0;
  }

  /** Another list of parts: each is looked at. */
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

  /** Something of it may have changed. */
  wake(part: ListPart): void {
    this.#woken.add(part);
  }

  /** Looks at what may have changed. */
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

  /** The places that have changed since `before` was `members`, as long as one reader asks; undefined: any may have. */
  changedSince(before: readonly ListMember[]): readonly number[] | undefined {
    const { members, places } = this.#since;
    this.#since = { members: this.members, places: new Set() };
    return before === members && places !== undefined
      ? [...places].sort((one, other) => one - other)
      : undefined;
  }
}

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
