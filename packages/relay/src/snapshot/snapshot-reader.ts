import type { DatabaseSync } from "node:sqlite";

import { openToRead, rowGetter } from "./database.ts";
import type { Row } from "./row.ts";

/** Reads rows of the database while another connection writes. */
export class SnapshotReader {
  readonly #path: string;
  #database: DatabaseSync | undefined;
  #get: ((id: number) => Row | undefined) | undefined;

  /** @param database - A connection that is open */
  constructor(path: string, database: DatabaseSync | undefined) {
    this.#path = path;
    this.#use(database);
  }

  /** undefined: it does not exist. Throws the error of SQLite. */
  row(id: number): Row | undefined {
    if (this.#get === undefined) this.#use(openToRead(this.#path));
    return this.#get?.(id);
  }

  /** Reads from the file that has the path now. It is opened at once: what is removed later can still be read. */
  reopen(): void {
    this.close();
    try {
      this.#use(openToRead(this.#path));
    } catch {
      // The next row tries again, and throws.
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#get = undefined;
  }

  #use(database: DatabaseSync | undefined): void {
    this.#database = database;
    this.#get = database && rowGetter(database);
  }
}
