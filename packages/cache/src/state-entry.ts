import type { Entry, XdsError } from "@xdstp/core";

import type { KeptResource } from "./kept-resource.ts";

/** An empty list of entries, shared by all callers. */
export const NO_ENTRIES: readonly StateEntry[] = Object.freeze([]);

/** The fields of a new entry. */
export interface EntryState {
  readonly revision: number;
  readonly name: string;
  readonly since?: number;
  readonly resource?: KeptResource | undefined;
  readonly error?: XdsError | undefined;
  readonly label?: string | undefined;
  /** The constraints of the variant that was removed (TP2). */
  readonly constraints?: Uint8Array | undefined;
  /** True if the name existed and was removed. Absent: false, the name was never known. */
  readonly tombstone?: boolean;
}

/**
 * The implementation of {@link Entry}. There are many of them for a long time, so it has few
 * fields.
 */
export class StateEntry implements Entry {
  readonly revision: number;
  readonly since: number;
  readonly name: string;
  readonly resource?: KeptResource;
  readonly error?: XdsError;
  declare readonly constraints?: Uint8Array;
  /** The label of the transaction that made the entry. */
  readonly label: string | undefined;
  /**
   * True if the name existed and was removed. Collections log such an entry. They do not log a name
   * that never existed.
   */
  readonly tombstone: boolean;
  /** Written by the cache when a newer entry of the name exists. */
  superseded = false;
  /** Written by the cache when the history up to this entry has expired (tombstone window), or when the name has no subscribers. */
  gone = false;
  /** The entry that this one has replaced, while it is kept. Written by {@link ReplacedEntries}. */
  replaced: StateEntry | undefined = undefined;
  #alone: readonly StateEntry[] | undefined;
  #spellings: Map<string, StateEntry> | undefined;

  constructor(state: EntryState) {
    this.revision = state.revision;
    this.since = state.since ?? 0;
    this.name = state.name;
    if (state.resource !== undefined) this.resource = state.resource;
    if (state.error !== undefined) this.error = state.error;
    this.label = state.label;
    this.tombstone = state.tombstone ?? false;
    if (state.constraints !== undefined) this.constraints = state.constraints;
  }

  /** True if collections leave this entry out. */
  get dead(): boolean {
    return this.superseded || this.gone;
  }

  /** The entry as an array. It is the same array until the entry is superseded. */
  alone(): readonly StateEntry[] {
    return (this.#alone ??= [this]);
  }

  /** The entry under another spelling of its name (N-42). It is the same object for the same spelling. */
  spelled(name: string): StateEntry {
    if (name === this.name) return this;
    this.#spellings ??= new Map();
    let entry = this.#spellings.get(name);
    if (entry === undefined) {
      entry = this.with({ name });
      entry.superseded = this.superseded;
      this.#spellings.set(name, entry);
    }
    return entry;
  }

  /** Forgets a spelling that has no subscribers any more. */
  forget(spelling: string): void {
    this.#spellings?.delete(spelling);
  }

  /** A copy with other values of some fields. */
  with(change: Partial<EntryState>): StateEntry {
    const { revision, since, name, resource, error, label, tombstone, constraints } = this;
    return new StateEntry({
      revision,
      since,
      name,
      resource,
      error,
      label,
      tombstone,
      constraints,
      ...change,
    });
  }

  /** Marks the entry as replaced by a newer one of the name. The entry may be kept as history. The encoded responses of its array are released. */
  supersede(): void {
    this.superseded = true;
    this.#alone = undefined;
    for (const entry of this.#spellings?.values() ?? []) entry.supersede();
  }
}
