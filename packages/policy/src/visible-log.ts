import { CompactedLog, type Entry } from "@xdstp/core";
import { createSmallMap, entryKey, type SmallMap } from "@xdstp/protocol/server";
import { OwnEntry } from "./own-entry.ts";

/** How long removals are remembered: as long as by the cache behind, so that no reader that it keeps is lost here. */
export interface LogWindow {
  now(): number;
  /** Milliseconds. */
  readonly ms: number;
  /** Removals of one topic. */
  readonly count: number;
}

const NOTHING: readonly Entry[] = Object.freeze([]);
const HASHES = 2 ** 52;

/**
 * What may be seen of a topic, as a compacted log: each name once, at its newest revision, and next to it the variants of it that went (TP2).
 *
 * An entry that is added costs O(1); arrays are made when they are read, once for all readers in the same state.
 */
export class VisibleLog {
  head = 0;
  /** Sum over the members, modulo 2^52. */
  hash = 0;
  /** Number of members. */
  count = 0;
  readonly #window: LogWindow;
  readonly #log = new CompactedLog<Entry>((entry) => this.#placeOf(entry) !== undefined);
  readonly #newest: SmallMap<string, Entry> = createSmallMap();
  #members: readonly Entry[] | undefined;
  /** A variant was removed. */
  #hasGone = false;
  #floor: number;
  /** Oldest first. */
  #removals: { readonly entry: Entry; readonly at: number }[] | undefined;

  /** @param floor - What is older is not known */
  constructor(window: LogWindow, floor: number) {
    this.#window = window;
    this.#floor = floor;
  }

  /** The newest entry of a name in the spelling of its entries: a resource, or its removal. */
  newest(name: string): Entry | undefined {
    return this.#newest.get(name);
  }

  shows(name: string): boolean {
    return this.#newest.get(name)?.resource !== undefined;
  }

  /** Makes an entry the newest of its name. A removal is forgotten after the window; what `stays` is not. */
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

  /** Removed variants of a name, the one without constraints included. */
  goneOf(name: string): readonly Entry[] {
    return this.#hasGone ? this.removals().filter((entry) => entry.name === name) : NOTHING;
  }

  /** Forgets a name without saying that it went. */
  forget(key: string): void {
    if (this.#bury(key)) this.#newest.delete(key);
    this.#members = undefined;
  }

  /**
   * What is newer, oldest first; the same array while nothing lies between. undefined: that history is not kept any more.
   * @param all - The same of what the log was made of: where nothing is hidden that array is given, so that its frame is shared
   */
  after(revision: number, all: () => readonly Entry[] | undefined): readonly Entry[] | undefined {
    if (revision >= this.head) return NOTHING;
    if (revision < this.#floor) return undefined;
    return this.#log.after(revision, (entries) => asShared(entries, all));
  }

  /** The same array until something is added; `all` as in `after`. */
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

  /** The removal of the variant without constraints does not remove another variant, in either order of the two. */
  #keyFor(entry: Entry): string {
    const isAside =
      entry.resource === undefined &&
      this.#newest.get(entry.name)?.resource?.constraints !== undefined;
    return isAside ? goneKeyOf(entry) : keyOf(entry);
  }

  /** Where an entry stands; undefined: something newer is in its place. */
  #placeOf(entry: Entry): string | undefined {
    const key = keyOf(entry);
    if (this.#newest.get(key) === entry) return key;
    return this.#hasGone && this.#newest.get(goneKeyOf(entry)) === entry
      ? goneKeyOf(entry)
      : undefined;
  }

  /** A variant replaces the one without constraints: the removal of that one is still to be sent. */
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

/** The removal of a variant stands next to what there is of the name now. */
function keyOf(entry: Entry): string {
  return entry.constraints === undefined ? entry.name : goneKeyOf(entry);
}

/** The place in the log of the removal of this variant, or of the one without constraints, while another variant of the name exists. */
function goneKeyOf(entry: Entry): string {
  const key = entryKey(entry, entry.name);
  return key === entry.name ? `${key}\n` : key;
}

const alone = new WeakMap<Entry, readonly Entry[]>();

/** One entry as an array, the same one whichever topics of whichever policies give it, so that they share its frame. */
export function aloneOf(entry: Entry): readonly Entry[] {
  const known = alone.get(entry) ?? [entry];
  alone.set(entry, known);
  return known;
}

/** Everything is the array of everything: streams of different rights share frames where they can. */
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
