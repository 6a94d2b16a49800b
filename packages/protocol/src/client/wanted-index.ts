import { globOf, isGlob, nameKey } from "@xdstp/uri";

import { type Interest, interestKey, InterestMap } from "@xdstp/core";
import { newName, type Wanted, type WantedName } from "./wanted.ts";
import { newCollection, nextCollection } from "./wanted-collection.ts";

const NONE: readonly never[] = [];

/** All subscribed interests of a type, in the order of subscription. */
export interface WantedReader extends Iterable<Wanted> {
  /** Number of interests. */
  readonly size: number;
  /**
   * Returns the interests that a resource with this name (a key) and these aliases answers
   * (C-ALIAS-3). The array is the same for the same key until an interest is added or removed, and
   * for all names that only one collection covers.
   */
  covering(key: string, aliases?: readonly string[]): readonly Wanted[];
}

/** The subscribed interests of one type. */
export interface WantedIndex extends WantedReader {
  /** True if an interest is subscribed by an alias. */
  readonly hasAliases: boolean;
  /** Adds an interest. undefined: it is already subscribed. */
  add(interest: Interest): Wanted | undefined;
  /** Removes an interest. undefined: it was not subscribed. */
  remove(interest: Interest): Wanted | undefined;
  /** Returns the interests of a key, with any parameters. */
  ofName(key: string): readonly Wanted[];
  /**
   * Notes that an interest is subscribed by an alias of the resource with this name (C-ALIAS-3).
   */
  link(wanted: WantedName, realName: string): void;
  /**
   * Links the interests that are aliases of a cached resource: a server does not send that resource
   * again on a new stream (C-ALIAS-3).
   */
  linkCached(key: string, aliases: readonly string[] | undefined): void;
  /** Notes that an interest is not subscribed by an alias any more. */
  unlink(wanted: WantedName): void;
  /**
   * Returns and forgets the names without subscribers whose cached resource may still show a
   * removed alias, since its new state without the alias was rejected.
   */
  takeOrphans(): readonly string[];
}

/**
 * Creates an index of names, globs and `*`, with any parameters. It finds those that cover a name
 * without visiting the others.
 */
export function createWantedIndex(typeUrl: string): WantedIndex {
  return new Index(typeUrl);
}

class Index implements WantedIndex {
  readonly #typeUrl: string;
  readonly #all = new InterestMap<Wanted>();
  /**
   * Interests subscribed by an alias, by the real name under which their resource came: the
   * resource may be sent again, or be removed, without the alias in the response.
   */
  readonly #byRealName = new Map<string, Set<WantedName>>();
  /**
   * Interests whose alias was removed while another subscription covered its resource, with the
   * name of that resource.
   */
  readonly #former = new Map<WantedName, string>();

  constructor(typeUrl: string) {
    this.#typeUrl = typeUrl;
  }

  get size(): number {
    return this.#all.size;
  }

  get hasAliases(): boolean {
    return this.#byRealName.size > 0;
  }

  [Symbol.iterator](): Iterator<Wanted> {
    return this.#all[Symbol.iterator]();
  }

  add(interest: Interest): Wanted | undefined {
    const key = nameKey(interest.name);
    if (this.#all.get(this.#typeUrl, interest, key) !== undefined) return undefined;
    const wanted = createWanted(interest, key);
    this.#all.set(this.#typeUrl, interest, key, wanted);
    return wanted;
  }

  remove(interest: Interest): Wanted | undefined {
    const key = nameKey(interest.name);
    const wanted = this.#all.get(this.#typeUrl, interest, key);
    this.#all.delete(this.#typeUrl, interest, key);
    if (wanted?.kind === "name") {
      this.#setRealName(wanted, undefined);
      this.#former.delete(wanted);
    }
    return wanted;
  }

  link(wanted: WantedName, realName: string): void {
    if (wanted.realName === realName || !this.#has(wanted)) return;
    this.#former.delete(wanted);
    this.#setRealName(wanted, realName);
  }

  linkCached(key: string, aliases: readonly string[] = NONE): void {
    for (const alias of aliases)
      for (const wanted of this.ofName(nameKey(alias)))
        if (wanted.kind === "name" && wanted.key !== key && wanted.realName === undefined)
          this.link(wanted, key);
  }

  unlink(wanted: WantedName): void {
    if (wanted.realName !== undefined && this.#has(wanted))
      this.#former.set(wanted, wanted.realName);
    this.#setRealName(wanted, undefined);
  }

  takeOrphans(): readonly string[] {
    const orphans = [...this.#former].filter(
      ([, realName]) => this.covering(realName).length === 0,
    );
    for (const [wanted] of orphans) this.#former.delete(wanted);
    return orphans.map(([, realName]) => realName);
  }

  ofName(key: string): readonly Wanted[] {
    return this.#all.ofName(this.#typeUrl, key);
  }

  covering(key: string, aliases: readonly string[] = NONE): readonly Wanted[] {
    const own = this.#all.covering(this.#typeUrl, key, globOf(key));
    if (aliases.length + this.#byRealName.size === 0) return own;
    const byAlias = aliases.flatMap((alias) =>
      this.ofName(nameKey(alias)).filter(({ kind }) => kind === "name"),
    );
    return [...new Set([...own, ...byAlias, ...(this.#byRealName.get(key) ?? NONE)])];
  }

  #setRealName(wanted: WantedName, realName: string | undefined): void {
    const before =
      wanted.realName === undefined ? undefined : this.#byRealName.get(wanted.realName);
    before?.delete(wanted);
    if (before?.size === 0 && wanted.realName !== undefined)
      this.#byRealName.delete(wanted.realName);
    const writable: { realName: string | undefined } = wanted;
    writable.realName = realName;
    if (realName === undefined) return;
    const linked = this.#byRealName.get(realName);
    if (linked === undefined) this.#byRealName.set(realName, new Set([wanted]));
    else linked.add(wanted);
  }

  #has(wanted: WantedName): boolean {
    return this.#all.get(this.#typeUrl, wanted.interest, wanted.key) === wanted;
  }
}

function createWanted(interest: Interest, key: string): Wanted {
  const id = interestKey(interest, key);
  if (interest.name === "*" || isGlob(interest.name)) {
    const kind = interest.name === "*" ? "wildcard" : "glob";
    return { kind, interest, key, id, state: newCollection, next: nextCollection };
  }
  return { kind: "name", interest, key, id, realName: undefined, state: newName };
}
