import {
  systemClock,
  XdsError,
  type Clock,
  type Put,
  type Removal,
  type ResourceFeed,
  type ResourceSink,
  type Transaction,
} from "@xdstp/core";

/**
 * Creates a feed that reads a source repeatedly: a database, a bucket, an HTTP API.
 *
 * A complete state is applied as a whole or not at all. Readers do not see equal resources as
 * changes. A rejected resource counts as an error.
 */
export function createPollFeed({
  everyMs,
  jitter = 0.1,
  read,
  clock = systemClock,
  random = Math.random,
  onError = () => undefined,
}: {
  /** Milliseconds from the end of one read to the start of the next. */
  readonly everyMs: number;
  /**
   * The greatest random deviation of a pause, as a share of it, so that many processes do not read
   * at the same moment. With 0.1, a pause of 5,000 ms is 4,500 to 5,500 ms. Absent: 0.1.
   */
  readonly jitter?: number;
  /**
   * Reads the source. Returns the complete state `{ all }`, so that resources which only an earlier
   * state had are removed, or a transaction with the changes. The first read is at once; reads
   * never overlap.
   * If it rejects, the earlier resources stay, the cache reports them as stale with this error, and
   * the next read follows after the usual pause.
   * The signal aborts when the feed ends.
   */
  readonly read: (signal: AbortSignal) => Promise<{ readonly all: readonly Put[] } | Transaction>;
  /** The clock of the pauses. Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Returns numbers from 0 up to, not including, 1. Absent: `Math.random`. */
  readonly random?: () => number;
  /**
   * Called with each error of a read, and with the first rejection of a commit. If it throws, the
   * feed ends. Absent: no listener.
   */
  readonly onError?: (error: XdsError) => void;
}): ResourceFeed {
  return {
    async run(sink, signal) {
      const types = new Set<string>();
      let isFailing = false;
      while (!signal.aborted) {
        const error = await readOnce(read, { sink, signal, types });
        if (hasEnded(signal)) return;
        if (error !== undefined || isFailing) sink.unavailable({}, error);
        isFailing = error !== undefined;
        if (error !== undefined) onError(error);
        await pause(clock, Math.max(0, everyMs * (1 + jitter * (2 * random() - 1))), signal);
      }
    },
  };
}

type Read = Parameters<typeof createPollFeed>[0]["read"];

interface Reading {
  readonly sink: ResourceSink;
  readonly signal: AbortSignal;
  /** Every type of which a resource was read. */
  readonly types: Set<string>;
}

/** Reads the source once and commits the result. Returns the error, if there is one. */
async function readOnce(
  read: Read,
  { sink, signal, types }: Reading,
): Promise<XdsError | undefined> {
  try {
    const found = await unlessAborted(read(signal), signal);
    if (found === undefined) return undefined;
    const committed = sink.commit("all" in found ? replacement(found, sink, types) : found);
    const { rejected = [] } = (await committed.decided) ?? committed;
    return rejected[0]?.error;
  } catch (error) {
    return XdsError.from(error);
  }
}

function replacement(
  { all }: { readonly all: readonly Put[] },
  sink: ResourceSink,
  types: Set<string>,
): Transaction {
  const present = new Set(
    all.map(({ typeUrl, as, resource }) =>
      keyOf(typeUrl, as ?? resource.name, resource.constraints),
    ),
  );
  for (const { typeUrl } of all) types.add(typeUrl);
  const remove = [...types].flatMap((typeUrl) =>
    Array.from(sink.held(typeUrl), ({ name, constraints }): Removal => ({
      typeUrl,
      name,
      ...(constraints && { constraints }),
    })),
  );
  return {
    put: all,
    remove: remove.filter(
      ({ typeUrl, name, constraints }) => !present.has(keyOf(typeUrl, name, constraints)),
    ),
    atomic: true,
  };
}

function keyOf(typeUrl: string, name: string, constraints: Uint8Array | undefined): string {
  return JSON.stringify([
    typeUrl,
    name,
    constraints === undefined ? null : Array.from(constraints),
  ]);
}

/**
 * Returns whether the signal is aborted. A function, since TypeScript would assume that the value
 * does not change.
 */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/**
 * Waits for a read. undefined: the feed has ended first; it does not wait for a read that ignores
 * the signal.
 */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => {
      resolve(undefined);
    };
  });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      timer.cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
