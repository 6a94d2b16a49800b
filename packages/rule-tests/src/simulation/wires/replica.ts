import { createCache, type Cache } from "@xdstp/cache";
import type { Clock, Put, ResourceType } from "@xdstp/core";

import type { State, Store } from "./store.ts";

/** The options of a replica. */
export interface ReplicaOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly types: readonly ResourceType[];
  /** Returns the resource of a state that exists. */
  readonly putOf: (name: string, text: string) => Put;
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
    const { store, putOf } = this.#options;
    const changed = [...new Set(names)].filter(
      (name) => store.at(name).seq !== this.stateOf(name).seq,
    );
    for (const name of changed) this.#read.set(name, store.at(name));
    const puts = new Map(
      changed.flatMap((name) => {
        const { text } = store.at(name);
        return text === undefined ? [] : [[name, putOf(name, text)] as const];
      }),
    );
    this.#cache.commit({
      put: [...puts.values()],
      remove: changed
        .filter((name) => !puts.has(name))
        .map((name) => ({ typeUrl: putOf(name, "").typeUrl, name: putOf(name, "").resource.name })),
    });
  }

  /** The newest state of a name that the process has read. */
  stateOf(name: string): State {
    return this.#read.get(name) ?? { seq: 0, text: undefined };
  }
}
