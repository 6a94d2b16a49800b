import { globMatches, nameKey } from "@xdstp/uri";

/** The state of a name in the naive model. */
export interface NaiveName {
  readonly text: string;
  readonly content: string;
  readonly ttlMs: number | undefined;
  readonly aliases: readonly string[];
  /** The revision since which it exists. */
  readonly since: number;
}

/**
 * The state that a cache should have, stored in the simplest way: one map that is searched from end
 * to end.
 */
export class NaiveStore {
  readonly names = new Map<string, NaiveName>();
  readonly removedAt = new Map<string, number>();

  put(text: string, value: Omit<NaiveName, "text" | "since">, revision: number): void {
    const key = nameKey(text);
    const old = this.names.get(key);
    this.removedAt.delete(key);
    const aliases = text.startsWith("xdstp:") ? [] : value.aliases;
    this.names.set(key, {
      ...value,
      aliases,
      text: old?.text ?? text,
      since: old?.since ?? revision,
    });
  }

  remove(text: string, now: number): void {
    const key = nameKey(text);
    if (this.names.delete(key)) this.removedAt.set(key, now);
    else this.endAlias(text);
  }

  /** Removes an alias. Its resources stay without it until they are put again. */
  private endAlias(alias: string): void {
    for (const [key, { aliases, ...rest }] of this.names)
      if (aliases.includes(alias))
        this.names.set(key, { ...rest, aliases: aliases.filter((one) => one !== alias) });
  }

  /** Keys of existing names that an interest covers. */
  covered(interest: string): readonly string[] {
    const keys = [...this.names.keys()].filter((key) => covers(interest, key));
    if (keys.length > 0 || interest.startsWith("xdstp:") || interest === "*") return keys;
    return this.withAlias(interest).slice(0, 1);
  }

  /** Keys of names that have an alias, in order. */
  withAlias(alias: string): readonly string[] {
    return [...this.names]
      .filter(([, { aliases }]) => aliases.includes(alias))
      .map(([key]) => key)
      .sort();
  }

  /** Keys of names that an interest covered and that were removed within the window. */
  removed(interest: string, since: number): readonly string[] {
    return [...this.removedAt]
      .filter(([key, at]) => at > since && covers(interest, key))
      .map(([key]) => key);
  }
}

function covers(interest: string, key: string): boolean {
  if (interest === "*") return !key.includes("?");
  return nameKey(interest) === key || globMatches(interest, key);
}
