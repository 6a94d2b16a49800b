import { createCache, type Cache } from "@xdstp/cache";
import type { Clock, Put, ResourceType } from "@xdstp/core";

import type { State, Store } from "./store.ts";

/** The options of a replica. */
export interface ReplicaOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly types: readonly ResourceType[];
  /** Returns the resources of a state that exists. */
  readonly putsOf: (name: string, text: string) => readonly Put[];
}

/** One process of an origin: a cache with what it has read of the store so far. */
export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  #read = new Map<string, State>();
  #lives = 0;
  /** Absent: it does not run. */
  #cache: Cache | undefined;

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get cache(): Cache | undefined {
    return this.#cache;
  }

  /** The process that runs now, or ran last. */
  get life(): string {
    return `${this.name}.${this.#lives}`;
  }

  /** Begins a process, which reads the whole store. Returns its cache; undefined: one runs already. */
  start(): Cache | undefined {
    if (this.#cache !== undefined) return undefined;
    const { types, clock, store } = this.#options;
    this.#lives++;
    this.#read = new Map();
    this.#cache = createCache({ types, clock });
    this.#cache.transaction(() => undefined);
    this.readStore(store.names);
    return this.#cache;
  }

  stop(): void {
    void this.#cache?.close();
    this.#cache = undefined;
  }

  /** Reads these names of the store, as one transaction. */
  readStore(names: readonly string[]): void {
    if (this.#cache === undefined) return;
    const { store, putsOf } = this.#options;
    const changed = [...new Set(names)].filter(
      (name) => store.at(name).seq !== this.stateOf(name).seq,
    );
    for (const name of changed) this.#read.set(name, store.at(name));
    const isThere = (name: string): boolean => store.at(name).text !== undefined;
    this.#cache.commit({
      put: changed.filter(isThere).flatMap((name) => putsOf(name, store.at(name).text ?? "")),
      remove: changed
        .filter((name) => !isThere(name))
        .flatMap((name) =>
          putsOf(name, "").map(({ typeUrl, resource }) => ({ typeUrl, name: resource.name })),
        ),
    });
  }

  /** The number of the newest change that the process has read. */
  get newest(): number {
    return Math.max(0, ...Array.from(this.#read.values(), ({ seq }) => seq));
  }

  /** Returns the numbers of the states that the process has read until now. */
  seqs(): (name: string) => number {
    const read = new Map(this.#read);
    return (name) => read.get(name)?.seq ?? 0;
  }

  /** The newest state of a name that the process has read. */
  stateOf(name: string): State {
    return this.#read.get(name) ?? { seq: 0, text: undefined };
  }
}
