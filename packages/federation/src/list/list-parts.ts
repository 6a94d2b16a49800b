import { type Fault, type Interest, type ResourceSource, XdsError } from "@xdstp/core";
import { printLocator, collectionTypeOf, isGlob, typeFromTypeUrl, type Locator } from "@xdstp/uri";

import {
  failedPart,
  type FollowListOptions,
  inlinePart,
  type ListMember,
  type ListPart,
} from "./list-member.ts";
import { LocatedPart } from "./located-part.ts";
import { memberName, type NamingList } from "./member-index.ts";
import type { InlineEntry, LocatedEntry } from "./read-list.ts";
import { locatorFault } from "../links/locator-of.ts";

/** The parts of `followList` that the members use. */
export interface ListPartsHost extends Pick<
  FollowListOptions,
  "interestOf" | "onWanted" | "faultOf" | "restoredAt" | "slice"
> {
  readonly source: ResourceSource;
  readonly memberTypeUrl: string;
  readonly list: NamingList;
  /** Called when a located member may have changed. */
  readonly onWake: (part: ListPart) => void;
}

/** A state of a list that is being read. */
interface Taking {
  readonly entries: readonly (InlineEntry | LocatedEntry)[];
  at: number;
  readonly parts: Map<string, ListPart>;
  readonly nameless: Map<string, number>;
  /** Parts of earlier states that were not read completely. */
  readonly left: ReadonlySet<ListPart>;
}

/**
 * The members of a list in order, from one state to the next. A long list is read in slices; until
 * it is read completely, the previous state stays in force.
 */
export class ListParts {
  /** In the order of the list. */
  order: readonly ListPart[] = [];
  readonly #host: ListPartsHost;
  /** By name; those without a name by version. */
  #parts: ReadonlyMap<string, ListPart> = new Map();
  #taking: Taking | undefined;
  /** Parts that are no longer in the list and are still subscribed. */
  #gone: ListPart[] = [];

  constructor(host: ListPartsHost) {
    this.#host = host;
  }

  get(name: string): ListPart | undefined {
    return this.#parts.get(name);
  }

  /** True while a state is read: `order` belongs to the previous state. */
  get isTaking(): boolean {
    return this.#taking !== undefined;
  }

  /** True if there is work for a later turn. */
  get isDue(): boolean {
    return this.isTaking || this.#gone.length > 0;
  }

  /**
   * Begins a new state. Members that stay are not subscribed again. New ones are subscribed before
   * removed ones are unsubscribed. A member that is listed twice counts once, at its first place
   * (C-LIST-5).
   */
  replace(entries: readonly (InlineEntry | LocatedEntry)[]): void {
    const { left = [], parts = new Map<string, ListPart>() } = this.#taking ?? {};
    this.#taking = {
      entries,
      at: 0,
      parts: new Map(),
      nameless: new Map(),
      left: new Set([...left, ...parts.values()]),
    };
    // Reading the entries of a long list has taken enough time for this turn.
    if (entries.length <= this.#slice) this.go();
  }

  /** Handles one slice. */
  go(): void {
    if (this.#taking !== undefined) this.#take(this.#taking);
    else for (const part of this.#gone.splice(-this.#slice)) part.end();
  }

  /** Ends all subscriptions. */
  end(): void {
    const { left = [], parts = new Map<string, ListPart>() } = this.#taking ?? {};
    this.#taking = undefined;
    this.#gone = [...new Set([...this.#gone, ...left, ...parts.values(), ...this.#parts.values()])];
    this.#parts = new Map();
    this.order = [];
    this.go();
  }

  /** The maximum number of members that are subscribed or unsubscribed in one turn. */
  get #slice(): number {
    return this.#host.slice ?? 4_000;
  }

  #take(taking: Taking): void {
    const { entries, at, parts, nameless, left } = taking;
    taking.at = Math.min(entries.length, at + this.#slice);
    for (const entry of entries.slice(at, taking.at)) {
      const name = memberName(entry, this.#host.list);
      const key = name === "" && entry.kind === "inline" ? namelessKey(entry, nameless) : name;
      if (!parts.has(key)) parts.set(key, this.#part(entry, name, this.#parts.get(key)));
    }
    if (taking.at < entries.length) return;
    const before = new Set([...this.#parts.values(), ...left]);
    this.#taking = undefined;
    this.#parts = parts;
    this.order = [...parts.values()];
    for (const part of this.order) before.delete(part);
    this.#gone.push(...before);
    this.go();
  }

  #part(entry: InlineEntry | LocatedEntry, name: string, before: ListPart | undefined): ListPart {
    if (entry.kind === "inline") return inlinePart(entry, name, before?.member);
    const locator = printLocator(entry.locator);
    if (before?.locator === locator) return before;
    const interest =
      memberFault(this.#host.memberTypeUrl, entry.locator) ?? this.#interestOf(locator);
    return interest instanceof XdsError
      ? failedPart(name, interest, before?.member)
      : this.#located(name, locator, interest, before?.member);
  }

  #interestOf(locator: string): Interest | XdsError {
    try {
      return this.#host.interestOf?.(locator) ?? { name: locator };
    } catch (error) {
      return XdsError.from(error);
    }
  }

  #located(
    name: string,
    locator: string,
    interest: Interest,
    before: ListMember | undefined,
  ): ListPart {
    const { source, memberTypeUrl: typeUrl, onWanted, onWake, faultOf, restoredAt } = this.#host;
    const onEnd = onWanted?.(interest);
    return new LocatedPart({
      name,
      typeUrl,
      locator,
      topic: source.topic(typeUrl, interest),
      before,
      onWake,
      onEnd,
      faultOf,
      restoredAt,
    });
  }
}

/** Members with the same version are numbered, since each of them counts. */
function namelessKey({ version }: InlineEntry, counts: Map<string, number>): string {
  const count = counts.get(version) ?? 0;
  counts.set(version, count + 1);
  return `\n${version}\n${count}`;
}

/**
 * Returns the reason why a list cannot have this member: it is a collection itself (C-LIST-7), its
 * type differs, or its scheme is not supported. This is an error of the one member (C-LIST-9).
 * `undefined`: the member is valid.
 */
function memberFault(memberTypeUrl: string, locator: Locator): XdsError | undefined {
  const fault = isNested(memberTypeUrl, locator)
    ? {
        text: `${printLocator(locator)} is a collection, which no list can have as its member; list its members`,
        rule: "C-LIST-7",
      }
    : locator.scheme === "file"
      ? fileFault(locator)
      : locatorFault(memberTypeUrl, locator);
  return fault === undefined
    ? undefined
    : new XdsError(locator.scheme === "xdstp" ? "INVALID_ARGUMENT" : "UNIMPLEMENTED", fault.text, {
        typeUrl: memberTypeUrl,
        resource: printLocator(locator),
        rule: fault.rule,
      });
}

/** A file has no alternatives. Whether it may be read is up to the source of file names (C-NFILE-7). */
function fileFault(locator: Locator): Fault | undefined {
  return locator.directives.some(({ kind }) => kind === "alt")
    ? { text: `${printLocator(locator)} is a file, which has no alternatives`, rule: "C-NFILE-1" }
    : undefined;
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
