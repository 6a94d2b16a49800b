import type { Entry, StoredResource, XdsError } from "@xdstp/core";

/** An entry that a filter has to make: the cache has none that says this. */
export class OwnEntry implements Entry {
  readonly revision: number;
  /** Its log writes it for a removal. */
  since: number;
  readonly name: string;
  readonly resource?: StoredResource;
  readonly error?: XdsError;
  readonly constraints?: Uint8Array;
  /** Written by its log. */
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

/** Says that a name does not exist, or that this variant of it was removed (S-DYN-5). */
export function absence(
  name: string,
  revision: number,
  error?: XdsError,
  constraints?: Uint8Array,
): Entry {
  return new OwnEntry(undefined, name, revision, 0, error, constraints);
}

const shown = new WeakMap<Entry, OwnEntry>();

/** An entry for readers to whom its name is newer than to the cache; mostly the same object for the same two numbers. */
export function shownSince(entry: Entry, revision: number, since: number): Entry {
  if (revision === entry.revision && since === entry.since) return entry;
  const known = shown.get(entry);
  if (known?.revision === revision && known.since === since && !known.replaced) return known;
  const own = new OwnEntry(entry, entry.name, revision, since);
  shown.set(entry, own);
  return own;
}
