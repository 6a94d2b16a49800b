import { CompactedLog, type Entry } from "@xdstp/core";
import { createSmallMap, entryKey, type SmallMap } from "@xdstp/protocol/server";
import { OwnEntry } from "./own-entry.ts";

/**
 * The limits on removals that are kept: those of the cache, so that a reader which the cache still
 * serves does not miss a removal here.
 */
export interface LogWindow {
  now(): number;
  /** The time for which a removal is kept, in milliseconds. */
  readonly ms: number;
  /** The number of removals of one topic. */
  readonly count: number;
}

const NOTHING: readonly Entry[] = Object.freeze([]);
const HASHES = 2 ** 52;

/**
 * The allowed part of a topic as a compacted log: each name once, at its newest revision, and its
 * removed variants (TP2).
 *
 * Adding an entry costs O(1). Arrays are made when they are read, once for all readers in the same
 * state.
 */
export class VisibleLog {
  head = 0;
  /** The sum of the hashes of the members, modulo 2^52. */
  hash = 0;
  /** The number of members. */
  count = 0;
  readonly #window: LogWindow;
  readonly #log = new CompactedLog<Entry>((entry) => this.#placeOf(entry) !== undefined);
  readonly #newest: SmallMap<string, Entry> = createSmallMap();
  #members: readonly Entry[] | undefined;
  /** True if a variant was removed. */
  #hasGone = false;
  #floor: number;
  /** The removals, oldest first. */
  #removals: { readonly entry: Entry; readonly at: number }[] | undefined;

  /** @param floor - The revision up to which the history is not known */
  constructor(window: LogWindow, floor: number) {
    this.#window = window;
    this.#floor = floor;
  }

  /**
   * Returns the newest entry of a name, in the spelling of its entries: a resource, or its removal.
   */
  newest(name: string): Entry | undefined {
    return this.#newest.get(name);
  }

  shows(name: string): boolean {
    return this.#newest.get(name)?.resource !== undefined;
  }

  /**
   * Makes an entry the newest of its name. A removal is dropped after the window, unless it
   * `stays`.
   */
  add(entry: Entry, stays = false): void {
    const key = this.#keyFor(entry);
    const held = this.#newest.get(key);
    if (held === entry) return;
    if (entry instanceof OwnEntry && entry.resource === undefined && held?.resource !== undefined)
      entry.since = held.since;
    if (entry.resource?.constraints !== undefined) this.#setAside(entry.name);
    this.#bury(key);
    if (key !== entry.name) this.#hasGone = true;
    else if (this.#hasGone && entry.resource !== undefined) this.forget(goneKeyOf(entry));
    this.#newest.set(key, entry);
    this.#log.append(entry);
    this.head = Math.max(this.head, entry.revision);
    this.#count(entry, 1);
    if (entry.resource === undefined && !stays)
      (this.#removals ??= []).push({ entry, at: this.#window.now() });
    this.#expire();
    this.#members = undefined;
  }

  /** Returns the removed variants of a name, including the one without constraints. */
  goneOf(name: string): readonly Entry[] {
    return this.#hasGone ? this.removals().filter((entry) => entry.name === name) : NOTHING;
  }

  /** Drops a name without a removal. */
  forget(key: string): void {
    if (this.#bury(key)) this.#newest.delete(key);
    this.#members = undefined;
  }

  /**
   * Returns the entries newer than a revision, oldest first; the same array while no entry is added
   * in between. undefined: the history is not kept any more.
   * @param all - Returns the same entries of the topic of the source. If nothing is hidden, that
   * array is returned, so that its frame is shared
   */
  after(revision: number, all: () => readonly Entry[] | undefined): readonly Entry[] | undefined {
    if (revision >= this.head) return NOTHING;
    if (revision < this.#floor) return undefined;
    return this.#log.after(revision, (entries) => asShared(entries, all));
  }

  /** Returns the members; the same array until an entry is added. `all` as in `after`. */
  members(all: () => readonly Entry[] | undefined = () => undefined): readonly Entry[] {
    return (this.#members ??= asShared(
      this.#log.filter(({ resource }) => resource !== undefined),
      all,
    ));
  }

  removals(): readonly Entry[] {
    this.#expire();
    return this.#log.filter(({ resource }) => resource === undefined);
  }

  /**
   * Returns the key under which an entry is stored. The removal of the variant without constraints
   * does not remove another variant, whichever of the two comes first.
   */
  #keyFor(entry: Entry): string {
    const isAside =
      entry.resource === undefined &&
      this.#newest.get(entry.name)?.resource?.constraints !== undefined;
    return isAside ? goneKeyOf(entry) : keyOf(entry);
  }

  /** Returns the key under which an entry is stored. undefined: a newer entry has replaced it. */
  #placeOf(entry: Entry): string | undefined {
    const key = keyOf(entry);
    if (this.#newest.get(key) === entry) return key;
    return this.#hasGone && this.#newest.get(goneKeyOf(entry)) === entry
      ? goneKeyOf(entry)
      : undefined;
  }

  /**
   * Keeps the removal of the variant without constraints, which is still to be sent, when another
   * variant replaces it.
   */
  #setAside(name: string): void {
    const none = this.#newest.get(name);
    if (none === undefined || none.resource !== undefined) return;
    this.#hasGone = true;
    this.#newest.set(goneKeyOf(none), none);
    this.#newest.delete(name);
  }

  #bury(key: string): boolean {
    const old = this.#newest.get(key);
    if (old === undefined) return false;
    if (old instanceof OwnEntry) old.replaced = true;
    this.#count(old, -1);
    this.#log.forget();
    return true;
  }

  #count({ resource }: Entry, change: 1 | -1): void {
    if (resource === undefined) return;
    this.count += change;
    this.hash = (this.hash + (change > 0 ? resource.hash : HASHES - resource.hash)) % HASHES;
  }

  #expire(): void {
    const { ms, count } = this.#window;
    const removals = this.#removals;
    if (removals === undefined) return;
    const oldest = this.#window.now() - ms;
    for (
      let first = removals[0];
      first !== undefined && (first.at < oldest || removals.length > count);
      first = removals[0]
    ) {
      removals.shift();
      const place = this.#placeOf(first.entry);
      if (place === undefined) continue;
      this.forget(place);
      this.#floor = first.entry.revision;
    }
  }
}

/**
 * Returns the key of an entry. The removal of a variant is stored next to the present entry of the
 * name.
 */
function keyOf(entry: Entry): string {
  return entry.constraints === undefined ? entry.name : goneKeyOf(entry);
}

/**
 * Returns the key for the removal of this variant, or of the one without constraints, while another
 * variant of the name exists.
 */
function goneKeyOf(entry: Entry): string {
  const key = entryKey(entry, entry.name);
  return key === entry.name ? `${key}\n` : key;
}

const alone = new WeakMap<Entry, readonly Entry[]>();

/**
 * Returns an entry as an array; the same array in all topics of all policies, so that they share
 * its frame.
 */
export function aloneOf(entry: Entry): readonly Entry[] {
  const known = alone.get(entry) ?? [entry];
  alone.set(entry, known);
  return known;
}

/**
 * Returns the array of the source if it has the same entries, so that streams with different rights
 * share frames.
 */
function asShared(
  entries: readonly Entry[],
  all: () => readonly Entry[] | undefined,
): readonly Entry[] {
  const [only] = entries;
  if (only === undefined) return NOTHING;
  if (entries.length === 1) return aloneOf(only);
  const other = all();
  return other?.length === entries.length && other.every((entry, index) => entry === entries[index])
    ? other
    : entries;
}
