// The thread that writes a snapshot. It loads only the modules that SQLite needs.
import { parentPort, workerData } from "node:worker_threads";

import { DatabaseWriter, SnapshotMoved, type Chunk, type Written } from "./database-writer.ts";
import { textOf, type FileIdentity } from "./private-files.ts";

/** A chunk whose bodies are in one buffer, one after the other. */
export interface ThreadRequest extends Chunk {
  /** The length of the body of each change. -1: the change has no body. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

export type ThreadReply = Written | { readonly error: string; readonly isMoved: boolean };

const [dir, lock] = workerData as readonly [string, FileIdentity | undefined];
const writer = new DatabaseWriter(dir, lock);

parentPort?.on("message", (request: ThreadRequest | undefined) => {
  if (request === undefined) {
    writer.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(replyTo(request));
});

function replyTo(request: ThreadRequest): ThreadReply {
  try {
    return writer.write(unpacked(request));
  } catch (error) {
    return { error: textOf(error), isMoved: error instanceof SnapshotMoved };
  }
}

function unpacked({ changes, lengths, bytes, ...chunk }: ThreadRequest): Chunk {
  let at = 0;
  return {
    ...chunk,
    changes: changes.map((one, nth) => {
      const length = lengths[nth] ?? -1;
      if (one.change !== "put" || length < 0) return one;
      const body = bytes.subarray(at, at + length);
      at += length;
      return { ...one, row: { ...one.row, body } };
    }),
  };
}
