import { setTimeout as wait } from "node:timers/promises";

/** Bytes that a process holds after garbage collection. */
export interface MemoryUse {
  readonly rss: number;
  /** The JavaScript heap and what hangs on it outside: buffers. */
  readonly heap: number;
}

const passes = 4;
const passMs = 150;

/**
 * Collects, and gives the engine time to return pages, which it does in the background. Needs `--expose-gc`.
 *
 * A collection of last resort also shrinks the young generation, which grew with the load of the start, as V8 does by itself in an idle process.
 */
export async function memoryInUse(): Promise<MemoryUse> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("run with --expose-gc");
  for (let pass = 0; pass < passes; pass++) {
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    await wait(passMs);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
