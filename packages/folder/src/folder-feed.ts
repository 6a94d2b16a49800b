import {
  type Clock,
  type ResourceFeed,
  type ResourceSink,
  systemClock,
  type Timer,
} from "@xdstp/core";
import { createDebounce, createPatience, type Patience } from "./pacing.ts";
import { type FolderProblem, isForbidden, reasonOf } from "./folder-problem.ts";
import { filesInWriting } from "./files-in-writing.ts";
import { createResourceCheck } from "./check-resource.ts";
import { followLinks } from "./follow-links.ts";
import { createFolderCommitter, type FolderCommitter, type Reading } from "./folder-committer.ts";
import { folderContext, type FolderOptions } from "./folder-context.ts";
import type { FolderEvent } from "./folder-event.ts";
import type { FolderOrigin } from "./folder-origin.ts";
import { createFolderReader, type FolderReader } from "./folder-reader.ts";
import { createFolderWatch, type FolderWatch, type WatchDirectory } from "./folder-watch.ts";
import type { NodeSinks } from "./folder-entry.ts";

/** A batch ends when nothing has changed for this time, and this long after its first change at the latest. */
const burst = { quietMs: 100, maxMs: 2_000 };
/** Where some directory cannot be watched. */
const pollMs = 2_000;
/** Where the folder itself cannot be read. */
const retryMs = 1_000;
/** How often mounts and unmounts are looked for, of which the system sends no notification. */
const checkMs = 2_000;

/** Options of {@link createFolderFeed}. */
export interface FolderFeedOptions extends FolderOptions {
  /** Take it as meant when a folder of more than 100 resources loses more than half of them in one batch. Absent: false, the last state is kept. */
  readonly allowMassDelete?: boolean;
  /** Apply the good resources of a batch with broken ones. What was applied of a broken file stays, unless a good resource has its name now. Absent: false, a batch is applied as a whole or not at all. */
  readonly partial?: boolean;
  /** Where the content of `_nodes/KEY/` goes, for instance `createNodeCaches(...)`, whose `shared` cache then runs this feed. Absent: such files are a problem. */
  readonly nodes?: NodeSinks;
  /** Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Told what happened, after it happened. What it throws ends the feed. */
  readonly onEvent?: (event: FolderEvent) => void;
  /** Absent: `fs.watch`. Where it throws, the folder is read again every 2 seconds. */
  readonly watch?: WatchDirectory;
}

/**
 * Creates a feed of the resources in a folder of files; the cache is exactly the folder after each commit.
 *
 * Changes are read when nothing has changed for 100 ms, or 2 s after the first; files saved together are one transaction over all types.
 * A batch with a broken resource is not applied, or with `partial` as far as it is good. Until the first good state nothing is committed, so the cache is not ready (S-STREAM-9).
 * Whatever the sink holds of its types and the folder does not have is removed. `run` rejects only where `onEvent` or the sink throws.
 */
export function createFolderFeed(options: FolderFeedOptions): FolderFeed {
  let running: FolderCommitter | undefined;
  return {
    async run(sink, signal) {
      await run(options, sink, signal, (committer) => {
        running = committer;
      });
    },
    originOf: async (typeUrl, name, { node } = {}) => running?.originOf({ typeUrl, name, node }),
  };
}

/** A folder as a feed, which knows its files. */
export interface FolderFeed extends ResourceFeed {
  /**
   * Returns where a resource that is served came from: for the option `originOf` of a server. It reads the file again for the line.
   * @param name - In any spelling, or an alias
   * @param options - `node`: the key of the nodes that it is served to. Absent: all
   * @returns undefined where the folder does not have it and is served as it is
   */
  originOf(
    typeUrl: string,
    name: string,
    options?: { readonly node?: string | undefined },
  ): Promise<FolderOrigin | undefined>;
}

async function run(
  options: FolderFeedOptions,
  sink: ResourceSink,
  signal: AbortSignal,
  onStart: (committer: FolderCommitter) => void,
): Promise<void> {
  const { dir, clock = systemClock, onEvent = () => undefined } = options;
  const base = folderContext(options);
  const context = { ...base, check: await createResourceCheck(base) };
  const patience = createPatience(systemClock); // The file system keeps the time of the machine, whatever clock the feed has.
  const changes = createDebounce({ clock, ...burst });
  const watch = createFolderWatch({
    root: dir,
    patience,
    onChange: changes.touch,
    ...(options.watch && { watch: options.watch }),
  });
  const reader = createFolderReader(context, patience);
  const committer = createFolderCommitter({
    context,
    sink,
    nodes: options.nodes,
    allowMassDelete: options.allowMassDelete ?? false,
    isPartial: options.partial ?? false,
    onEvent,
  });
  onStart(committer);
  const polling = createPollingNotice(dir, onEvent);
  const isJustEmptied = createEmptyFileNotice();
  const isOver = (): boolean => signal.aborted;
  let isCut = false;
  let edits = 0;
  try {
    while (!isOver()) {
      const reading = await unlessAborted(readOnce(reader, watch, dir, changes.touch), signal);
      if (reading === undefined || isOver()) return;
      if ("state" in reading) edits += reading.state.edits;
      const writing = await unlessAborted(
        writtenSince(reading, { dir, patience, clock, waitMs: isCut ? burst.quietMs : 0 }),
        signal,
      );
      if (writing === undefined || isOver()) return;
      const failure = watch.sweep();
      polling("error" in reading ? undefined : failure);
      if (isJustEmptied(reading) || (!isCut && writing.length > 0)) {
        changes.touch();
        isCut = await changes.next(signal);
        continue;
      }
      await committer.take(withEdits(withProblems(reading, writing), edits));
      edits = 0;
      const pauseMs = "error" in reading ? retryMs : failure === undefined ? undefined : pollMs;
      const timer =
        pauseMs === undefined ? checkEvery(clock, watch) : clock.after(pauseMs, changes.flush);
      isCut = await changes.next(signal);
      timer.cancel();
    }
  } finally {
    changes.cancel();
    watch.close();
    reader.close();
  }
}

/** How it is found out whether the files of a reading are being written. */
interface Writing {
  readonly dir: string;
  readonly patience: Patience;
  readonly clock: Clock;
  /** How long they have to be left alone; 0: they have been already. */
  readonly waitMs: number;
}

/** The files of a reading that are being written. Where the folder could not be read there are none. */
async function writtenSince(
  reading: Reading,
  { dir, patience, clock, waitMs }: Writing,
): Promise<readonly FolderProblem[]> {
  if ("error" in reading || reading.state.changed.length === 0) return [];
  if (waitMs > 0)
    await new Promise<void>((resolve) => {
      clock.after(waitMs, resolve);
    });
  return await filesInWriting(dir, reading.state.changed, patience);
}

function withProblems(reading: Reading, problems: readonly FolderProblem[]): Reading {
  if ("error" in reading || problems.length === 0) return reading;
  const { state } = reading;
  const files = new Set(problems.map(({ file }) => file));
  const entries = state.entries.map((entry) =>
    files.has(entry.file) ? { ...entry, isFaulty: true as const } : entry,
  );
  return { state: { ...state, entries, problems: [...state.problems, ...problems] } };
}

/** Adds the edits of readings that nothing was made of, since files were being written. */
function withEdits(reading: Reading, edits: number): Reading {
  return "error" in reading ? reading : { state: { ...reading.state, edits } };
}

/** Whether some file has become empty since the reading before: writers empty a file before they fill it, so it gets the time of one more burst. */
function createEmptyFileNotice(): (reading: Reading) => boolean {
  let before: ReadonlySet<string> = new Set();
  return (reading) => {
    const now = new Set("state" in reading ? reading.state.emptyFiles : []);
    const isNew = !now.isSubsetOf(before);
    before = now;
    return isNew;
  };
}

/** undefined: it was aborted. A file system that does not answer is not waited for then. */
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

/** Checks the watched directories until it is cancelled, one check after the other: that of a file system which does not answer takes long. */
function checkEvery(clock: Clock, watch: FolderWatch): Timer {
  let isCancelled = false;
  const schedule = (): Timer =>
    clock.after(checkMs, () => {
      void watch.check().then(() => {
        if (!isCancelled) timer = schedule();
      });
    });
  let timer = schedule();
  return {
    cancel: () => {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/** What a link leads to was read before it was watched, so a new watch of such a place calls for another reading. */
async function readOnce(
  reader: FolderReader,
  watch: FolderWatch,
  dir: string,
  readAgain: () => void,
): Promise<Reading> {
  let reading: Reading;
  try {
    reading = { state: await reader.read((directory) => watch.add(directory)) };
  } catch (error) {
    reading = { error };
  }
  const links = "state" in reading ? reading.state.links : [];
  for (const [directory, names] of await followLinks([dir, ...links])) {
    if (await watch.add(directory, names)) readAgain();
  }
  return reading;
}

/** Reports it once for each time that watching begins to fail. A folder that cannot be read is reported elsewhere. */
function createPollingNotice(
  dir: string,
  onEvent: (event: FolderEvent) => void,
): (failure: unknown) => void {
  let isPolling = false;
  return (failure) => {
    const wasPolling = isPolling;
    isPolling = failure !== undefined;
    if (!isPolling || wasPolling) return;
    const hint = isForbidden(failure)
      ? "give this user the right to read it"
      : "raise fs.inotify.max_user_watches or the limit of open files";
    onEvent({
      kind: "polling",
      message: `${dir} cannot be watched (${reasonOf(failure)}), so it is read again every ${pollMs / 1_000} s; ${hint} to be notified`,
    });
  };
}
