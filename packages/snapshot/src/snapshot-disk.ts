import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { SnapshotMoved, type Chunk, type Written } from "./database-writer.ts";
import { textOf, type FileIdentity } from "./private-files.ts";
import type { ThreadReply, ThreadRequest } from "./write-thread.ts";

/** Writes a snapshot, one chunk at a time. */
export interface SnapshotDisk {
  /**
   * Rejects if nothing of the transaction is written; with {@link SnapshotMoved} if another file
   * has the path.
   */
  write(chunk: Chunk): Promise<Written>;
  /** Closes the connection. A later write opens it again. */
  close(): Promise<void>;
}

/** @param lock - The lock file of the caller in the directory */
export type OpenDisk = (dir: string, lock: FileIdentity | undefined) => SnapshotDisk;

/** Writes in a thread of its own, so that a slow disk does not delay the relay. */
export const threadDisk: OpenDisk = (dir, lock) => new ThreadDisk(dir, lock);

const isSource: boolean = import.meta.url.endsWith(".ts");

class ThreadDisk implements SnapshotDisk {
  readonly #data: readonly [dir: string, lock: FileIdentity | undefined];
  #worker: Worker | undefined;
  #answer: ((reply: ThreadReply) => void) | undefined;

  constructor(dir: string, lock: FileIdentity | undefined) {
    this.#data = [dir, lock];
  }

  async write(chunk: Chunk): Promise<Written> {
    const worker = (this.#worker ??= this.#start());
    const { request, bytes } = packed(chunk);
    // The process stays alive while a chunk is written. The idle thread does not keep it alive.
    worker.ref();
    const reply = await new Promise<ThreadReply>((resolve) => {
      this.#answer = resolve;
      worker.postMessage(request, [bytes]);
    });
    worker.unref();
    if ("error" in reply)
      throw reply.isMoved ? new SnapshotMoved(reply.error) : new Error(reply.error);
    return reply;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    worker.ref();
    const exit = once(worker, "exit");
    worker.postMessage(undefined);
    await exit;
  }

  /** Starts a thread. If the thread ends for any reason, the next write starts another one. */
  #start(): Worker {
    const worker = new Worker(
      new URL(isSource ? "./write-thread.ts" : "./write-thread.js", import.meta.url),
      {
        workerData: this.#data,
        name: "xdstp snapshot",
        execArgv: [],
      },
    );
    const end = (why: string): void => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#answer?.({ error: `the thread that writes has ended: ${why}`, isMoved: false });
    };
    worker.on("message", (reply: ThreadReply) => {
      this.#answer?.(reply);
      this.#answer = undefined;
    });
    worker.on("error", (error) => {
      end(textOf(error));
    });
    worker.on("exit", (code) => {
      end(`exit code ${code}`);
    });
    return worker;
  }
}

/**
 * Copies the bodies into one buffer, which is transferred: a body is often a view of a much larger
 * buffer.
 */
function packed({ changes, ...chunk }: Chunk): {
  readonly request: ThreadRequest;
  readonly bytes: ArrayBuffer;
} {
  const lengths = changes.map((one) =>
    one.change === "put" && one.row.body !== null ? one.row.body.length : -1,
  );
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + Math.max(0, length), 0));
  let at = 0;
  const bare = changes.map((one) => {
    if (one.change !== "put" || one.row.body === null) return one;
    bytes.set(one.row.body, at);
    at += one.row.body.length;
    return { ...one, row: { ...one.row, body: null } };
  });
  return { request: { ...chunk, changes: bare, lengths, bytes }, bytes: bytes.buffer };
}
