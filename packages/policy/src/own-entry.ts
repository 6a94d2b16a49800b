import type { Entry, StoredResource, XdsError } from "@xdstp/core";

/** An entry that a filter creates, since the cache has none with this content. */
export class OwnEntry implements Entry {
  readonly revision: number;
  /** For a removal, written by the log that has it. */
  since: number;
  readonly name: string;
  readonly resource?: StoredResource;
  readonly error?: XdsError;
  readonly constraints?: Uint8Array;
  /** True if a newer entry has replaced it. Written by the log that has it. */
  replaced = false;
  readonly #of: Entry | undefined;

  constructor(
    of: Entry | undefined,
    name: string,
    revision: number,
    since: number,
    error?: XdsError,
    constraints?: Uint8Array,
  ) {
    this.#of = of;
    this.name = name;
    this.revision = revision;
    this.since = since;
    if (of?.resource !== undefined) this.resource = of.resource;
    const why = error ?? of?.error;
    if (why !== undefined) this.error = why;
    if (constraints !== undefined) this.constraints = constraints;
  }

  get superseded(): boolean {
    return this.replaced || this.#of?.superseded === true;
  }
}

/**
 * Returns an entry that says that a name does not exist, or that this variant of it was removed
 * (S-DYN-5).
 */
export function absence(
  name: string,
  revision: number,
  error?: XdsError,
  constraints?: Uint8Array,
): Entry {
  return new OwnEntry(undefined, name, revision, 0, error, constraints);
}

const shown = new WeakMap<Entry, OwnEntry>();

/**
 * Returns an entry for readers that see a name at a later revision than that of the cache; mostly
 * the same object for the same two revisions.
 */
export function shownSince(entry: Entry, revision: number, since: number): Entry {
  if (revision === entry.revision && since === entry.since) return entry;
  const known = shown.get(entry);
  if (known?.revision === revision && known.since === since && !known.replaced) return known;
  const own = new OwnEntry(entry, entry.name, revision, since);
  shown.set(entry, own);
  return own;
}
