import type { DatabaseSync } from "node:sqlite";

import { DatabaseWriter } from "../src/snapshot/database-writer.ts";
import { openToWrite } from "../src/snapshot/database.ts";
import type { OpenDisk, SnapshotDisk } from "../src/snapshot/snapshot-disk.ts";

/** Writes at once, so that the same things happen each time. What is written is there after a crash of the process. */
export const directDisk: OpenDisk = (dir, lock) => diskOf(new DatabaseWriter(dir, lock, openFast));

/** The same, over a writer that the test has made. */
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

/** Tests end processes, and not machines. */
function openFast(path: string): DatabaseSync {
  const database = openToWrite(path);
  database.exec("PRAGMA synchronous = OFF");
  return database;
}
