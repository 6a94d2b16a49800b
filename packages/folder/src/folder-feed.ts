import { type Clock, type ResourceFeed, type ResourceSink, systemClock } from "@xdstp/core";
import { createDebounce, createPatience, type Patience, repeatEvery } from "./pacing.ts";
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

/** A batch ends when nothing has changed for `quietMs` milliseconds, but at most `maxMs` milliseconds after its first change. */
const burst = { quietMs: 100, maxMs: 2_000 };
/** Milliseconds until the folder is read again if some directory cannot be watched. */
const pollMs = 2_000;
/** Milliseconds until the folder is read again if it cannot be read. */
const retryMs = 1_000;
/** The interval in milliseconds in which directories are checked for mounts and unmounts, of which the system sends no notification. */
const checkMs = 2_000;

/** The options of {@link createFolderFeed}. */
export interface FolderFeedOptions extends FolderOptions {
  /** true: removals are applied even if they look like an accident, for instance if a folder of more than 100 resources loses more than half of them in one batch. Absent: false, the last state is kept. */
  readonly allowMassDelete?: boolean;
  /** true: the valid resources of a batch that also has invalid ones are applied. Resources that were loaded from an invalid file stay, unless a valid resource has their name now. Absent: false, a batch is applied as a whole or not at all. */
  readonly partial?: boolean;
  /** The sinks for the content of `_nodes/KEY/`, for instance `createNodeCaches(...)`, whose `shared` cache then runs this feed. Absent: such files are a problem. */
  readonly nodes?: NodeSinks;
  /** Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Called after each event. An error that it throws ends the feed. */
  readonly onEvent?: (event: FolderEvent) => void;
  /** Watches one directory. If it throws an error, the folder is read again every 2 seconds. Absent: `fs.watch`. */
  readonly watch?: WatchDirectory;
}

/**
 * Creates a feed of the resources in a folder of files. After each commit, the cache has exactly the resources of the folder.
 *
 * Changes are read when nothing has changed for 100 ms, but at most 2 s after the first change. Files that are saved together are one transaction over all types.
 * If the folder changes while it is read, it is read again, so that a link to a whole tree may be replaced at any moment.
 * A batch with an invalid resource is not applied; with `partial`, its valid part is. Nothing is committed before the first valid state, so the cache is not ready until then (S-STREAM-9).
 * Resources of these types that the sink has and the folder does not have are removed. `run` rejects only if `onEvent` or the sink throws an error.
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

/** A feed of a folder that knows the files of its resources. */
export interface FolderFeed extends ResourceFeed {
  /**
   * Returns the origin of a served resource, for the option `originOf` of a server. It reads the file again to find the line.
   * @param name - The name in any spelling, or an alias
   * @param options - `node`: the key of the nodes that it is served to. Absent: all
   * @returns `undefined` if the folder does not have the resource and has no problems
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
  const patience = createPatience(systemClock); // The file system uses the time of the machine, also if the feed has another clock.
  const changes = createDebounce({ clock, ...burst });
  const disturbance = createDisturbance();
  const watch = createFolderWatch({
    root: dir,
    patience,
    onChange: () => {
      disturbance.note();
      changes.touch();
    },
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
      disturbance.begin();
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
      if (isJustEmptied(reading) || (!isCut && (writing.length > 0 || disturbance.isNew()))) {
        changes.touch();
        isCut = await changes.next(signal);
        continue;
      }
      await committer.take(withEdits(withProblems(reading, writing), edits));
      edits = 0;
      const pauseMs = "error" in reading ? retryMs : failure === undefined ? undefined : pollMs;
      const timer =
        pauseMs === undefined
          ? repeatEvery(clock, checkMs, watch.check)
          : clock.after(pauseMs, changes.flush);
      isCut = await changes.next(signal);
      timer.cancel();
    }
  } finally {
    changes.cancel();
    watch.close();
    reader.close();
  }
}

/** The options to find the files that are being written. */
interface Writing {
  readonly dir: string;
  readonly patience: Patience;
  readonly clock: Clock;
  /** Milliseconds without a change that are required. 0: this time has already passed. */
  readonly waitMs: number;
}

/** Returns problems for the files of a reading that are being written. Empty if the folder could not be read. */
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

/** Replaces the number of edits. It includes those of earlier readings that were not applied because files were being written. */
function withEdits(reading: Reading, edits: number): Reading {
  return "error" in reading ? reading : { state: { ...reading.state, edits } };
}

/** Returns a function that reports whether a file has become empty since the last call. Programs often empty a file before they fill it, so such a file is read again after the next burst. */
function createEmptyFileNotice(): (reading: Reading) => boolean {
  let before: ReadonlySet<string> = new Set();
  return (reading) => {
    const now = new Set("state" in reading ? reading.state.emptyFiles : []);
    const isNew = !now.isSubsetOf(before);
    before = now;
    return isNew;
  };
}

/** Changes of the folder while it is read. What was read may then be neither the state before nor the state after: if a link to a tree is replaced, one part is of each tree. */
interface Disturbance {
  /** Begins a reading. */
  begin(): void;
  /** Notes a change. */
  note(): void;
  /** Returns true if the folder has changed during this reading, so that it has to be read again. Returns false for the reading after that one, so that a folder that changes all the time is served too. */
  isNew(): boolean;
}

/**
 * calm     --change--> changed --read again--> repeated
 * repeated --reading--> second, in which changes do not count
 * any other --reading--> calm
 */
function createDisturbance(): Disturbance {
  let phase: "calm" | "changed" | "repeated" | "second" = "calm";
  return {
    begin() {
      phase = phase === "repeated" ? "second" : "calm";
    },
    note() {
      if (phase === "calm") phase = "changed";
    },
    isNew() {
      if (phase !== "changed") return false;
      phase = "repeated";
      return true;
    },
  };
}

/** Returns the result of the work, or `undefined` after an abort. An abort does not wait for a file system that does not answer. */
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

/** Reads the folder and watches its directories. The target of a link is read before it is watched, so a new watch of a target requires another reading. */
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

/** Returns a function that reports when watching begins to fail, once each time. A folder that cannot be read is reported elsewhere. */
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
