import { join, sep } from "node:path";
import { type Put, type Rejection, type ResourceSink, XdsError } from "@xdstp/core";
import { shortNameOf } from "@xdstp/resource-types";
import { fileTrouble, type FolderProblem, formatProblem } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import type { FolderEvent } from "./folder-event.ts";
import { authoritiesOf, foreignProblems } from "./foreign-references.ts";
import { type FolderOrigin, folderOrigin, type OriginQuestion } from "./folder-origin.ts";
import type { FolderState } from "./folder-reader.ts";
import { lostVolume, uncoveredVolume } from "./lost-volume.ts";
import { keyOf, type NodeSinks, unplacedProblems } from "./folder-entry.ts";
import { goodPart } from "./good-part.ts";
import { countServed, type FolderPlan, planFolder } from "./plan-transaction.ts";
import { nodesFolder } from "./place.ts";
import { unusedResources } from "./unused-resources.ts";
import { isGone } from "./walk-folder.ts";

/** A folder with more resources than this number has to lose more than half of them at once for the loss to look like an accident. */
const massDeleteFloor = 100;

/** The number of references to other authorities that are reported one by one. */
const mostForeign = 20;

/** The number of resources without references that are reported one by one. */
const mostUnused = 5;

/** The types that refer to others in every mesh. */
const referring: ReadonlySet<string | undefined> = new Set(["clusters", "listeners"]);

/** The number of bytes of payloads that are encoded in one step. Other work of the event loop runs between two steps. Each resource counts as 1,000 bytes more than its payload. */
const preparedBytes = 4_000_000;

/** The result of reading the folder once: its state, or the reason why it cannot be read at all. */
export type Reading = { readonly state: FolderState } | { readonly error: unknown };

/** Decides how the result of a reading is applied. */
export interface FolderCommitter {
  /** Commits the state, or reports why it is not committed. In that case the state before stays. */
  take(reading: Reading): Promise<void>;
  /** Returns the origin of a served resource. */
  originOf(asked: OriginQuestion): Promise<FolderOrigin | undefined>;
}

/** The options of {@link createFolderCommitter}. */
export interface FolderCommitterOptions {
  readonly context: FolderContext;
  readonly sink: ResourceSink;
  /** The sinks for content per node. Absent: such content is a problem. */
  readonly nodes?: NodeSinks | undefined;
  readonly allowMassDelete: boolean;
  /** true: the valid part of a reading with problems is applied. */
  readonly isPartial: boolean;
  readonly onEvent: (event: FolderEvent) => void;
}

/** Creates a committer that has committed nothing yet. */
export function createFolderCommitter(options: FolderCommitterOptions): FolderCommitter {
  const progress: Progress = {
    ...options,
    types: new Set(options.context.types.keys()),
    warned: "[]",
    foreign: new Set(),
    unused: "[]",
    problems: [],
  };
  return {
    originOf: async (asked) => {
      const { context, loaded, problems, trouble, isPartial } = progress;
      const entries = loaded?.entries ?? [];
      return folderOrigin({ dir: context.dir, entries, problems, trouble, isPartial }, asked);
    },
    take: async (reading) => {
      await take(progress, reading);
    },
  };
}

interface Progress extends FolderCommitterOptions {
  /** All types of which the cache may have resources. */
  readonly types: Set<string>;
  /** The revision of the last commit. Absent: there was none. */
  revision?: number;
  /** The state of the folder when it was last loaded. */
  loaded?: FolderState;
  /** The current problem as text, so that it is not reported twice. */
  trouble?: string | undefined;
  /** The problems of the newest reading. */
  problems: readonly FolderProblem[];
  /** The warnings that were reported last, as JSON. */
  warned: string;
  /** The keys of the current references to other authorities. Each of them was reported. */
  foreign: ReadonlySet<string>;
  /** The resources without references that were reported last, as JSON. */
  unused: string;
}

async function take(progress: Progress, reading: Reading): Promise<void> {
  if ("error" in reading && !isMeantAsEmpty(progress, reading.error)) {
    lose(progress, reading.error);
    return;
  }
  const read = "error" in reading ? noState : reading.state;
  const problems = [...read.problems, ...unplacedProblems(read.entries, progress.nodes)];
  progress.problems = problems;
  const state = problems.length === 0 ? read : servable(progress, read, problems);
  if (state === undefined) {
    reject(progress, read, problems);
    return;
  }
  for (const { typeUrl } of state.entries) progress.types.add(typeUrl);
  await turn();
  const plan = planFolder(state.entries, progress.types, progress.sink, progress.nodes);
  const lost =
    plan.removed === 0 || progress.allowMassDelete ? undefined : lostVolume(progress.loaded, state);
  const uncovered =
    plan.put + plan.removed === 0 || progress.allowMassDelete
      ? undefined
      : uncoveredVolume(progress.loaded, state);
  if (lost !== undefined) keep(progress, state, plan, "emptied", lost);
  else if (uncovered !== undefined) keep(progress, state, plan, "unmounted", uncovered);
  else if (isMassDelete(progress, plan)) keep(progress, state, plan, "mass-delete");
  else if (progress.revision === undefined || plan.put + plan.removed > 0)
    await commit(progress, state, plan);
  else if (isNews(progress, state)) finish(progress, state, plan);
}

/** Returns the part of a reading with problems that can be applied, or `undefined` if nothing of it is. */
function servable(
  { isPartial, loaded, context }: Progress,
  read: FolderState,
  problems: readonly FolderProblem[],
): FolderState | undefined {
  if (!isPartial) return undefined;
  const entries = goodPart(loaded?.entries ?? [], read, problems);
  if (loaded === undefined) {
    // Clients of a node key with an invalid file would receive the shared resource in place of their own.
    const ofNodes = join(context.dir, nodesFolder);
    const isOfNodes = ({ file }: FolderProblem): boolean =>
      file === ofNodes || file.startsWith(ofNodes + sep);
    if (problems.some(isOfNodes) || entries.every(({ isFaulty }) => isFaulty)) return undefined;
  }
  return { ...read, entries, problems };
}

/** Returns true if there is something to report although no resource changes. A user who has edited a file waits for an answer. */
function isNews(
  { trouble, warned }: Progress,
  { problems, warnings, edits }: FolderState,
): boolean {
  if (problems.length > 0) return edits > 0 || trouble !== textOf(problems);
  return trouble !== undefined || warned !== JSON.stringify(warnings);
}

async function commit(progress: Progress, state: FolderState, plan: FolderPlan): Promise<void> {
  const isFirst = progress.revision === undefined;
  await turn();
  const early = progress.isPartial ? [] : rejectionsOf(plan);
  if (early.length > 0) {
    reject(progress, state, problemsOf(early, state));
    return;
  }
  await prepare(plan);
  const parts: RejectedPart[] = [];
  for (const { sink, put, remove } of plan.parts) {
    if (put.length + remove.length === 0 && !(isFirst && sink === progress.sink)) continue;
    const committed = sink.commit({ put, remove, atomic: !progress.isPartial });
    const { revision, rejected = [] } = (await committed.decided) ?? committed;
    if (rejected.length > 0) parts.push({ put, rejected });
    if (rejected.length > 0 && !progress.isPartial) {
      reject(progress, state, problemsOf(parts, state));
      return;
    }
    progress.revision = Math.max(progress.revision ?? 0, revision);
  }
  const problems = [...state.problems, ...problemsOf(parts, state)];
  const rejected = new Set(
    parts.flatMap((part) => part.rejected.map(({ typeUrl, name }) => keyOf({ typeUrl, name }))),
  );
  for (const entry of state.entries) {
    const { typeUrl, name } = entry;
    if (!rejected.has(keyOf({ typeUrl, name }))) entry.put = undefined; // Rejected resources keep `put`, so they are tried again.
  }
  const isOnlyRejected = plan.removed === 0 && rejected.size === plan.put && !isFirst;
  if (!isOnlyRejected || isNews(progress, { ...state, problems }))
    finish(progress, { ...state, problems }, plan);
}

/** Returns the resources that the sinks would reject, if there are several sinks. A single sink rejects resources when it commits. */
function rejectionsOf({ parts }: FolderPlan): readonly RejectedPart[] {
  const filled = parts.filter(({ put, remove }) => put.length + remove.length > 0);
  if (filled.length < 2) return [];
  return filled.flatMap(({ sink, put, remove }) => {
    const rejected = sink.checkCommit?.({ put, remove }) ?? [];
    return rejected.length === 0 ? [] : [{ put, rejected }];
  });
}

interface RejectedPart {
  readonly put: readonly Put[];
  readonly rejected: readonly Rejection[];
}

function problemsOf(parts: readonly RejectedPart[], state: FolderState): readonly FolderProblem[] {
  return parts.flatMap(({ put, rejected }) =>
    rejected.map(({ typeUrl, name, error }) => ({
      file: fileOf(put, state, typeUrl, name),
      code: "unserved",
      message: error.text,
    })),
  );
}

/** Encodes the resources in each sink before the commit. The commit itself cannot be interrupted, and takes less time then. */
async function prepare({ parts }: FolderPlan): Promise<void> {
  let bytes = 0;
  for (const { sink, put } of parts) {
    if (sink.prepare === undefined) continue;
    for (const { resource } of put) {
      sink.prepare(resource);
      bytes += resource.payload.value.length + 1_000;
      if (bytes < preparedBytes) continue;
      bytes = 0;
      await turn();
    }
  }
}

/** Lets other work of the event loop run. Each step of a large batch takes tens of milliseconds. */
async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Stores and reports that the cache has the resources of the folder, except invalid ones. */
function finish(progress: Progress, state: FolderState, plan: FolderPlan): void {
  const { sink, nodes, types, onEvent, trouble, revision = 0 } = progress;
  const { files, entries, problems, warnings } = state;
  const text = problems.length === 0 ? undefined : textOf(problems);
  if (trouble !== text)
    sink.unavailable({}, text === undefined ? undefined : new XdsError("UNAVAILABLE", text));
  progress.loaded = state;
  progress.problems = problems;
  progress.trouble = text;
  progress.warned = JSON.stringify(warnings);
  onEvent({
    kind: "loaded",
    files,
    ...(problems.length === 0
      ? { resources: entries.length, older: 0 }
      : countServed(entries, types, sink, nodes)),
    revision,
    put: plan.put,
    removed: plan.removed,
    problems,
    warnings: [...warnings, ...freshUnused(progress, state)],
  });
  tellForeign(progress, state);
}

/** Returns warnings for resources without references if they are others than before. A folder without clusters and listeners has nothing that could refer to one, so its clients request by name. */
function freshUnused(progress: Progress, { entries }: FolderState): readonly FolderProblem[] {
  const all = entries.some(({ typeUrl }) => referring.has(shortNameOf(typeUrl)))
    ? unusedResources(entries)
    : [];
  const text = JSON.stringify(all);
  if (text === progress.unused) return [];
  progress.unused = text;
  const more = all.length - mostUnused;
  return [
    ...all.slice(0, mostUnused),
    ...(more <= 0
      ? []
      : [
          {
            file: progress.context.dir,
            code: "unused-resource",
            message: `nothing refers to ${more} more resources`,
            hint: "xdstp validate lists them all",
          } as const,
        ]),
  ];
}

/** Reports references to other authorities. Each is reported once while it exists (S-AUTH-10). */
function tellForeign(progress: Progress, { references, entries }: FolderState): void {
  const { foreign: before, context, onEvent } = progress;
  const all = foreignProblems(references, context.authorities ?? authoritiesOf(entries));
  progress.foreign = new Set(all.map(({ key }) => key));
  const fresh = all.filter(({ key }) => !before.has(key));
  const told = fresh.slice(0, mostForeign);
  for (const [at, { typeUrl, name, problem }] of told.entries())
    onEvent({
      kind: "foreign-reference",
      problem,
      typeUrl,
      name,
      more: at === told.length - 1 ? fresh.length - told.length : 0,
    });
}

function reject(progress: Progress, state: FolderState, problems: readonly FolderProblem[]): void {
  progress.problems = problems;
  fail(
    progress,
    { kind: "rejected", problems, serving: progress.revision !== undefined },
    textOf(problems),
    state.edits > 0,
  );
}

/** Returns the first ten problems in one line. */
function textOf(problems: readonly FolderProblem[]): string {
  return problems.slice(0, 10).map(formatProblem).join("; ");
}

function lose(progress: Progress, error: unknown): void {
  const { code, message, hint } = isGone(error) ? gone : fileTrouble(error);
  const problem = {
    file: progress.context.dir,
    code,
    message,
    hint: `${hint === undefined ? "" : `${hint}; `}it is tried again every second`,
  };
  if (progress.revision === undefined) {
    fail(progress, { kind: "unreadable", problem }, formatProblem(problem));
    return;
  }
  const { held } = planFolder([], progress.types, progress.sink, progress.nodes);
  const text = `${formatProblem(problem)}; the last state is still served`;
  fail(
    progress,
    {
      kind: "kept",
      reason: isGone(error) ? "root-vanished" : "unreadable",
      directory: progress.context.dir,
      message: text,
      held,
      lost: held,
    },
    text,
  );
}

/** The texts for lost resources that are not removed from the cache: the reason, and what to do. `missing`: such as `3 of 5`. */
const losses = {
  emptied: (directory: string, missing: string) =>
    `${directory} is empty, as if a volume were not mounted: ${missing} resources are missing; no edit is applied, and the last state is still served (mount it or put the files back; if this is meant, leave an empty sub-folder in it, or allow mass deletion)`,
  unmounted: (directory: string, missing: string) =>
    `the volume at ${directory} is no longer mounted, and the directory under it has other content: ${missing} resources are missing; no edit is applied, and the last state is still served (mount it again; if the directory is meant, restart, or allow mass deletion)`,
  "mass-delete": (directory: string, missing: string) =>
    `${directory} lost ${missing} resources at once; no edit is applied, and the last state is still served (put them back, or allow mass deletion)`,
};

/** Reports that the last state is kept. `path`: the directory below the folder that the loss is about. */
function keep(
  progress: Progress,
  { edits }: FolderState,
  { held, removed: lost }: FolderPlan,
  reason: keyof typeof losses,
  path = "",
): void {
  const { dir } = progress.context;
  const directory = reason === "mass-delete" ? dir : join(dir, path);
  const message = losses[reason](directory, `${lost} of ${held}`);
  fail(progress, { kind: "kept", reason, directory, message, held, lost }, message, edits > 0);
}

/** Reports a failure. The same failure is reported again only after an edit, since a user waits for an answer then. */
function fail(progress: Progress, event: FolderEvent, text: string, isAnswer = false): void {
  if (progress.trouble === text && !isAnswer) return;
  progress.trouble = text;
  progress.sink.unavailable({}, new XdsError("UNAVAILABLE", text));
  progress.onEvent(event);
}

/** Returns true if a folder that no longer exists counts as empty. This requires that it was served before and that any loss is accepted. */
function isMeantAsEmpty({ allowMassDelete, revision }: Progress, error: unknown): boolean {
  return allowMassDelete && revision !== undefined && isGone(error);
}

const noState: FolderState = {
  directories: new Map(),
  paths: [],
  emptyFiles: [],
  files: 0,
  entries: [],
  clashing: new Set(),
  problems: [],
  warnings: [],
  references: [],
  links: [],
  edits: 0,
  changed: [],
};

function isMassDelete({ allowMassDelete }: Progress, { held, removed }: FolderPlan): boolean {
  return !allowMassDelete && looksLikeAccident({ held, removed });
}

/** Returns true if a change removes more than half of over 100 resources. A folder feed does not apply such a change, unless mass deletion is allowed. */
export function looksLikeAccident({
  held,
  removed,
}: {
  /** The number of resources before the change. */
  readonly held: number;
  /** The number of these resources that the change removes. */
  readonly removed: number;
}): boolean {
  return held > massDeleteFloor && removed * 2 > held;
}

function fileOf(put: readonly Put[], state: FolderState, typeUrl: string, name: string): string {
  return (
    state.entries.find(
      (entry) =>
        entry.typeUrl === typeUrl &&
        entry.name === name &&
        entry.put !== undefined &&
        put.includes(entry.put),
    )?.file ?? name
  );
}

const gone = {
  code: "unreadable-file",
  message: "does not exist any more, or is not a folder",
  hint: "put it back",
} as const;
