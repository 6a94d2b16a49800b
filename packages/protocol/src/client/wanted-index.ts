import { globOf, isGlob, nameKey } from "@xdstp/uri";

import { type Interest, interestKey, InterestMap } from "@xdstp/core";
import type { WantedReader } from "./variant.ts";
import { newCollection, newName, type Wanted, type WantedName } from "./wanted.ts";

const NONE: readonly never[] = [];

/** The interests of one type that are subscribed. Finds what covers a name without looking at the others. */
export class WantedIndex implements WantedReader {
  readonly #typeUrl: string;
  readonly #all = new InterestMap<Wanted>();
  /** Those subscribed by an alias, by the name that their resource came under: it may come again, or be removed, without a word of the alias. */
  readonly #byRealName = new Map<string, Set<WantedName>>();
  /** Those whose alias was removed while its resource was subscribed otherwise, by the name of that. */
  readonly #former = new Map<WantedName, string>();

  constructor(typeUrl: string) {
    this.#typeUrl = typeUrl;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Something is subscribed by an alias. */
  get hasAliases(): boolean {
    return this.#byRealName.size > 0;
  }

  [Symbol.iterator](): Iterator<Wanted> {
    return this.#all[Symbol.iterator]();
  }

  /** undefined: it is subscribed already. */
  add(interest: Interest): Wanted | undefined {
    const key = nameKey(interest.name);
    if (this.#all.get(this.#typeUrl, interest, key) !== undefined) return undefined;
    const wanted = createWanted(interest, key);
    this.#all.set(this.#typeUrl, interest, key, wanted);
    return wanted;
  }

  /** undefined: it is not subscribed. */
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

  /** The resource of this name is what is subscribed by an alias (C-ALIAS-3). */
  link(wanted: WantedName, realName: string): void {
    if (wanted.realName === realName || !this.#has(wanted)) return;
    this.#former.delete(wanted);
    this.#setRealName(wanted, realName);
  }

  /** The cached resource of this name is what is subscribed by one of its aliases: a server does not repeat that on a new stream (C-ALIAS-3). */
  linkCached(key: string, aliases: readonly string[] = NONE): void {
    for (const alias of aliases)
      for (const wanted of this.ofName(nameKey(alias)))
        if (wanted.kind === "name" && wanted.key !== key && wanted.realName === undefined)
          this.link(wanted, key);
  }

  /** It is not an alias any more. */
  unlink(wanted: WantedName): void {
    if (wanted.realName !== undefined && this.#has(wanted))
      this.#former.set(wanted, wanted.realName);
    this.#setRealName(wanted, undefined);
  }

  /** Names without subscribers whose resource may still show a removed alias: its new state, without the alias, was rejected. */
  takeOrphans(): readonly string[] {
    const orphans = [...this.#former].filter(
      ([, realName]) => this.covering(realName).length === 0,
    );
    for (const [wanted] of orphans) this.#former.delete(wanted);
    return orphans.map(([, realName]) => realName);
  }

  /** Those of a key, whatever their parameters. */
  ofName(key: string): readonly Wanted[] {
    return this.#all.ofName(this.#typeUrl, key);
  }

  /** The same array for the same key until something is added or removed, and for all names that only one collection covers. */
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
    return { kind, interest, key, id, state: newCollection };
  }
  return { kind: "name", interest, key, id, realName: undefined, state: newName };
}
