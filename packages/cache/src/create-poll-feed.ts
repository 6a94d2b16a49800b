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
 * Creates a feed that reads a source again and again: a database, a bucket, an HTTP API.
 *
 * A complete state is applied as a whole or not at all; equal resources are not a change to readers. Resources that are rejected count as an error.
 */
export function createPollFeed({
  everyMs,
  jitter = 0.1,
  read,
  clock = systemClock,
  random = Math.random,
  onError = () => undefined,
}: {
  /** Milliseconds from the end of one read to the begin of the next. */
  readonly everyMs: number;
  /** A pause is off by at most this share, either way, so that many processes do not read at the same moment. Absent: 0.1. */
  readonly jitter?: number;
  /**
   * Reads the source: the complete state `{ all }`, so that what an earlier state had and this one has not is removed, or a transaction with what has changed. The first read is at once; reads never overlap.
   * Where it rejects, what was read before stays, the cache reports it as stale with this error, and the next read is after the usual pause.
   * The signal aborts when the feed ends.
   */
  readonly read: (signal: AbortSignal) => Promise<{ readonly all: readonly Put[] } | Transaction>;
  /** Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Gives numbers from 0 up to 1. Absent: `Math.random`. */
  readonly random?: () => number;
  /** Called with each error of a read, and with the first rejection of a commit. What it throws ends the feed. */
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
  /** Every type of which something was given. */
  readonly types: Set<string>;
}

/** Gives the error, if there is one. */
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

/** A signal that was not aborted before may be afterwards. */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** undefined: the feed has ended. It does not wait for a read that takes no notice of the signal. */
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
