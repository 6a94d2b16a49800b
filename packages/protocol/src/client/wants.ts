import { globOf, isGlob, nameKey } from "@xdstp/uri";

import { type Interest, interestKey } from "@xdstp/core";
import type { Want } from "./want.ts";

/** What is wanted of one type: by name, by glob, or all of it. Finds what covers a name without looking at the others. */
export class Wants implements Iterable<Want> {
  readonly #byInterest = new Map<string, Want>();
  /** Several parameter sets of one name (TP2) share a key. */
  readonly #byKey = new Map<string, readonly Want[]>();
  /** Those wanted by an alias, by the name that their resource came under: it may come again, or go, without a word of the alias. */
  readonly #byRealName = new Map<string, Set<Want>>();
  /** Those whose alias has gone while its resource was wanted otherwise, by the name of that. */
  readonly #former = new Map<Want, string>();

  /** How many there are. */
  get size(): number {
    return this.#byInterest.size;
  }

  /** All of them, in the order in which they were added. */
  [Symbol.iterator](): Iterator<Want> {
    return this.#byInterest.values();
  }

  /** undefined: it is wanted already. */
  add(interest: Interest): Want | undefined {
    const key = nameKey(interest.name);
    const id = interestKey(interest, key);
    if (this.#byInterest.has(id)) return undefined;
    const want: Want = {
      interest,
      key,
      kind: kindOf(interest.name),
      asked: false,
      askedFirst: false,
      awaited: false,
      leftOut: false,
      unseen: [],
      begun: false,
      came: undefined,
      members: 0,
      countedAt: undefined,
      realName: undefined,
      state: "requested",
      at: 0,
      rejected: undefined,
      error: undefined,
    };
    this.#byInterest.set(id, want);
    this.#byKey.set(key, [...this.of(key), want]);
    return want;
  }

  /** undefined: it was not wanted. */
  drop(interest: Interest): Want | undefined {
    const key = nameKey(interest.name);
    const id = interestKey(interest, key);
    const want = this.#byInterest.get(id);
    if (want === undefined) return undefined;
    this.#byInterest.delete(id);
    const left = this.of(key).filter((other) => other !== want);
    if (left.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, left);
    this.#forget(want);
    this.#former.delete(want);
    return want;
  }

  /** It is still wanted. */
  has(want: Want): boolean {
    return this.of(want.key).includes(want);
  }

  /** What is wanted by an alias is the resource of this name (C-ALIAS-3). */
  link(want: Want, realName: string): void {
    if (want.realName === realName || !this.has(want)) return;
    this.#forget(want);
    this.#former.delete(want);
    want.realName = realName;
    const linked = this.#byRealName.get(realName);
    if (linked === undefined) this.#byRealName.set(realName, new Set([want]));
    else linked.add(want);
  }

  /** What is held under this name, with these aliases, is what is wanted by one of them: the server does not say so again on a new stream (C-ALIAS-3). */
  linkHeld(key: string, aliases: readonly string[] = NONE): void {
    for (const alias of aliases)
      for (const want of this.of(nameKey(alias)))
        if (want.kind === "name" && want.key !== key && want.realName === undefined)
          this.link(want, key);
  }

  /** It is an alias of nothing any more. */
  unlink(want: Want): void {
    if (want.realName !== undefined) this.#former.set(want, want.realName);
    this.#forget(want);
    want.realName = undefined;
  }

  /** Names that are wanted no more, and whose resource an alias that has gone may still show: its new state, without the alias, was rejected. */
  takeOrphans(): readonly string[] {
    const orphans = [...this.#former].filter(
      ([, realName]) => this.covering(realName).length === 0,
    );
    for (const [want] of orphans) this.#former.delete(want);
    return orphans.map(([, realName]) => realName);
  }

  /** Those of a key, whatever their parameters. */
  of(key: string): readonly Want[] {
    return this.#byKey.get(key) ?? NONE;
  }

  /** Those that a resource of this name, with these aliases, answers (C-ALIAS-3). */
  covering(key: string, aliases: readonly string[] = NONE): readonly Want[] {
    const exact = this.of(key);
    if (exact.length === this.#byInterest.size) return exact;
    const others = this.#collections(key);
    if (aliases.length + this.#byRealName.size === 0)
      return exact.length === 0 ? others : [...exact, ...others];
    const byAlias = aliases.flatMap((alias) =>
      this.of(nameKey(alias)).filter(({ kind }) => kind === "name"),
    );
    return [...new Set([...exact, ...byAlias, ...(this.#byRealName.get(key) ?? NONE), ...others])];
  }

  #forget(want: Want): void {
    if (want.realName === undefined) return;
    const linked = this.#byRealName.get(want.realName);
    linked?.delete(want);
    if (linked?.size === 0) this.#byRealName.delete(want.realName);
  }

  #collections(key: string): readonly Want[] {
    const parent = key.startsWith("xdstp:") ? globOf(key) : undefined;
    const globs = parent === undefined ? NONE : this.of(parent);
    const wildcard = this.of("*");
    return globs.length === 0 ? wildcard : [...globs, ...wildcard];
  }
}

const NONE: readonly never[] = [];

function kindOf(name: string): Want["kind"] {
  if (name === "*") return "wildcard";
  return isGlob(name) ? "glob" : "name";
}
