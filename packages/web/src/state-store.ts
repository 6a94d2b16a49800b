import { createStore, del, get, set } from "idb-keyval";

/** The last state of a resource, as it is kept for a later start. */
export interface StoredResource {
  /** The version that the server gave it. Empty: none. */
  readonly version: string;
  /** The content, in the form of the type that reads it. */
  readonly body: Uint8Array;
  /** Milliseconds since the Unix epoch at which the server sent or confirmed it, up to a minute ago. */
  readonly savedAt: number;
  /** Milliseconds for which it may be used. Absent: it has no TTL. */
  readonly ttlMs?: number;
}

/** Keeps the last states of resources. A client goes on without it if it fails. */
export interface StateStore {
  /** Returns the state that was saved under a key. undefined: there is none. */
  load(key: string): Promise<StoredResource | undefined>;
  /** Saves a state under a key, in place of the one before. */
  save(key: string, resource: StoredResource): Promise<void>;
  /** Removes the state of a key, if there is one. */
  remove(key: string): Promise<void>;
}

/**
 * Creates a store in IndexedDB, which pages and workers of one origin share.
 * @param name - the name of the database. Default: `xdstp`
 */
export function createStateStore(name = "xdstp"): StateStore {
  let opened: ReturnType<typeof createStore> | undefined;
  // Opened with the first use: a page may create a client that never watches.
  const store = (): ReturnType<typeof createStore> => (opened ??= createStore(name, "resources"));
  return {
    load: async (key) => get<StoredResource>(key, store()),
    save: async (key, resource) => set(key, resource, store()),
    remove: async (key) => del(key, store()),
  };
}
