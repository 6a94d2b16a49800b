import type { Entry, XdsError } from "@xdstp/core";

import type { KeptResource } from "./kept-resource.ts";

/** No entries; shared by all who have none to give. */
export const NO_ENTRIES: readonly StateEntry[] = Object.freeze([]);

/** What a new entry is made of. */
export interface EntryState {
  readonly revision: number;
  readonly name: string;
  readonly since?: number;
  readonly resource?: KeptResource | undefined;
  readonly error?: XdsError | undefined;
  readonly label?: string | undefined;
  /** Which variant of the name went (TP2). */
  readonly constraints?: Uint8Array | undefined;
  /** Stands for something that existed. Absent: false, nothing of the name was known. */
  readonly tombstone?: boolean;
}

/** The one implementation of {@link Entry}: long-lived and numerous, so it keeps few fields. */
export class StateEntry implements Entry {
  readonly revision: number;
  readonly since: number;
  readonly name: string;
  readonly resource?: KeptResource;
  readonly error?: XdsError;
  declare readonly constraints?: Uint8Array;
  /** Label of the transaction that made it. */
  readonly label: string | undefined;
  /** It says that something went, so collections log it; a name that was never there is logged by none. */
  readonly tombstone: boolean;
  /** Written by the cache when a newer entry of the name exists. */
  superseded = false;
  /** Written by the cache when the history up to here is gone (tombstone window) or nobody wants the name. */
  gone = false;
  /** What it has replaced, while that is kept. Written by {@link ReplacedEntries}. */
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

  /** Not to be shown any more by a collection. */
  get dead(): boolean {
    return this.superseded || this.gone;
  }

  /** The entry as an array; the same one until it is superseded. */
  alone(): readonly StateEntry[] {
    return (this.#alone ??= [this]);
  }

  /** The entry under another spelling of its name; the same object for the same spelling (N-42). */
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

  /** Nobody is subscribed in this spelling any more. */
  forget(spelling: string): void {
    this.#spellings?.delete(spelling);
  }

  /** A copy in which something differs. */
  with(change: Partial<EntryState>): StateEntry {
    const { revision, since, name, resource, error, label, tombstone, constraints } = this;
    return new StateEntry({ revision, since, name, resource, error, label, tombstone, constraints, ...change });
  }

  /** A newer entry of the name exists. This one may be kept as history; the encoded responses that belong to its array are not. */
  supersede(): void {
    this.superseded = true;
    this.#alone = undefined;
    for (const entry of this.#spellings?.values() ?? []) entry.supersede();
  }
}
