import { XdsError, type Interest, type ResourceSource } from "@xdstp/core";
import { printLocator } from "@xdstp/uri";

import { failedPart } from "./failed-part.ts";
import type { FollowListOptions } from "./followed-list.ts";
import { inlinePart } from "./inline-part.ts";
import type { ListMember } from "./list-member.ts";
import type { ListPart } from "./list-part.ts";
import { locatedPart } from "./located-part.ts";
import { memberFault } from "./member-fault.ts";
import { memberName, type NamingList } from "./member-name.ts";
import type { InlineEntry, LocatedEntry } from "./read-list.ts";

/** Where the members of a list come from. */
export interface ListPartsHost extends Pick<FollowListOptions, "interestOf" | "onWanted" | "faultOf"> {
  readonly source: ResourceSource;
  readonly memberTypeUrl: string;
  readonly list: NamingList;
  /** Called when a located member may have changed. */
  readonly onWake: () => void;
}

/** The members of a list in their order, from one state of it to the next. */
export class ListParts {
  /** In the order of the list. */
  order: readonly ListPart[] = [];
  readonly #host: ListPartsHost;
  /** By name; those without one by version. */
  #parts: ReadonlyMap<string, ListPart> = new Map();

  constructor(host: ListPartsHost) {
    this.#host = host;
  }

  get(name: string): ListPart | undefined {
    return this.#parts.get(name);
  }

  /** What stays is not asked for anew; what is new is asked for before what is gone is let go. What is listed twice counts once, where it is first (C-LIST-5). */
  replace(entries: readonly (InlineEntry | LocatedEntry)[]): void {
    const before = this.#parts;
    const parts = new Map<string, ListPart>();
    const nameless = new Map<string, number>();
    for (const entry of entries) {
      const name = memberName(entry, this.#host.list);
      const key = name === "" && entry.kind === "inline" ? namelessKey(entry, nameless) : name;
      if (!parts.has(key)) parts.set(key, this.#part(entry, name, before.get(key)));
    }
    this.#parts = parts;
    this.order = [...parts.values()];
    for (const [key, part] of before) if (parts.get(key) !== part) part.end();
  }

  #part(entry: InlineEntry | LocatedEntry, name: string, before: ListPart | undefined): ListPart {
    if (entry.kind === "inline") return inlinePart(entry, name, before?.member);
    const locator = printLocator(entry.locator);
    if (before?.locator === locator) return before;
    const interest = memberFault(this.#host.memberTypeUrl, entry.locator) ?? this.#interestOf(locator);
    return interest instanceof XdsError ? failedPart(name, interest, before?.member) : this.#located(name, locator, interest, before?.member);
  }

  #interestOf(locator: string): Interest | XdsError {
    try {
      return this.#host.interestOf?.(locator) ?? { name: locator };
    } catch (error) {
      return XdsError.from(error);
    }
  }

  #located(name: string, locator: string, interest: Interest, before: ListMember | undefined): ListPart {
    const { source, memberTypeUrl: typeUrl, onWanted, onWake, faultOf } = this.#host;
    const onEnd = onWanted?.(interest);
    return locatedPart({ name, typeUrl, locator, topic: source.topic(typeUrl, interest), before, onWake, onEnd, faultOf });
  }
}

/** Each of those that have the same version counts. */
function namelessKey({ version }: InlineEntry, counts: Map<string, number>): string {
  const count = counts.get(version) ?? 0;
  counts.set(version, count + 1);
  return `\n${version}\n${count}`;
}
