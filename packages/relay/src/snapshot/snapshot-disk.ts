import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { SnapshotMoved, type Chunk, type Written } from "./database-writer.ts";
import { textOf, type FileIdentity } from "./private-files.ts";
import type { ThreadReply, ThreadRequest } from "./write-thread.ts";

/** Where a snapshot is written to. One chunk at a time. */
export interface SnapshotDisk {
  /** Rejects where nothing of the transaction is written; with {@link SnapshotMoved} where another file has the path. */
  write(chunk: Chunk): Promise<Written>;
  /** It may be written to again. */
  close(): Promise<void>;
}

/** @param lock - The file of the lock that the caller has on the directory */
export type OpenDisk = (dir: string, lock: FileIdentity | undefined) => SnapshotDisk;

/** Writes in a thread of its own: a disk may take as long as it likes, and the relay goes on. */
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
    // A process does not end while something is being written, and does not go on because something could be.
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

  /** Whatever ends the thread, the next write starts another one. */
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

/** The bodies are copied into one buffer, which is handed over: a body is often a view of a much larger one. */
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
