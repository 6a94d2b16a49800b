import type { DatabaseSync } from "node:sqlite";

import { DatabaseWriter } from "../src/database-writer.ts";
import { openToWrite } from "../src/database.ts";
import type { OpenDisk, SnapshotDisk } from "../src/snapshot-disk.ts";

/**
 * Writes synchronously, so that tests are deterministic. Written data survive a crash of the
 * process.
 */
export const directDisk: OpenDisk = (dir, lock) => diskOf(new DatabaseWriter(dir, lock, openFast));

/** Returns the same over a writer that the test has created. */
export function diskOf(writer: DatabaseWriter): SnapshotDisk {
  const done = async <T>(act: () => T): Promise<T> => Promise.resolve(act());
  return {
    write: (chunk) => done(() => writer.write(chunk)),
    close: () =>
      done(() => {
        writer.close();
      }),
  };
}

/** Tests end processes, not machines. */
function openFast(path: string): DatabaseSync {
  const database = openToWrite(path);
  database.exec("PRAGMA synchronous = OFF");
  return database;
}
