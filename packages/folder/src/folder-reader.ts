import { join } from "node:path";
import { systemClock } from "@xdstp/core";
import { clashesOf, type FolderEntry, variantOf } from "./folder-entry.ts";
import { fileTrouble, type FolderProblem } from "./folder-problem.ts";
import { areUnchanged, type AttachedFile, attachFiles, stampOf } from "./attached-files.ts";
import { createFileParser, type FileParser } from "./file-parser.ts";
import type { FolderContext } from "./folder-context.ts";
import { createPatience, mapLimit, type Patience } from "./pacing.ts";
import { nodeOf } from "./place.ts";
import type { FileContent } from "./read-file.ts";
import type { FileReference } from "./foreign-references.ts";
import { referencesOfEntry } from "./resource-references.ts";
import { usageOf } from "./unused-resources.ts";
import {
  type FolderListing,
  type FoundFile,
  isGone,
  type OnDirectory,
  walkFolder,
} from "./walk-folder.ts";

const parallel = 32;
/** The resolution of the coarsest file system clock, in milliseconds. A file that was changed less than this time ago may change again without a new stamp. */
const stampGrainMs = 2_000;

/** The state of a folder that was read once. */
export interface FolderState extends Pick<FolderListing, "directories"> {
  /** The paths of the resource files below the folder, with slashes. */
  readonly paths: readonly string[];
  readonly files: number;
  readonly entries: readonly FolderEntry[];
  /** The files without content. Editors and other programs empty a file before they fill it. */
  readonly emptyFiles: readonly string[];
  /** Resources that cannot exist together. */
  readonly clashing: ReadonlySet<FolderEntry>;
  /** The problems in the order of the file names. Empty: the state can be served. */
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
  /** References to xdstp names of an authority other than that of their file. */
  readonly references: readonly FileReference[];
  /** Files and directories that are symbolic links, or that a secret names. */
  readonly links: readonly string[];
  /** The number of files that were parsed in this reading, and of files that were removed since the one before. */
  readonly edits: number;
  /** The files that differ from the reading before, as they were listed. */
  readonly changed: readonly FoundFile[];
}

/** Reads a folder repeatedly, and parses only files that have changed. */
export interface FolderReader {
  /** Reads the folder. Rejects if the folder itself cannot be listed, and forgets all files then. Every other failure is a problem of the state. */
  readonly read: (onDirectory?: OnDirectory) => Promise<FolderState>;
  /** Stops work in other processes. */
  readonly close: () => void;
}

/** The result of reading a file, which is kept for the next reading. */
interface FileRecord {
  readonly stamp: string;
  /** true: the file was read so soon after it was changed that an equal stamp does not prove equal content. */
  readonly young: boolean;
  readonly hash: string;
  readonly entries: readonly FolderEntry[];
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
  readonly references: readonly FileReference[];
  /** Files whose content is part of these resources. */
  readonly attached: readonly AttachedFile[];
}

/** Creates a reader without results of earlier readings. */
export function createFolderReader(
  context: FolderContext,
  patience: Patience = createPatience(systemClock),
): FolderReader {
  let records: ReadonlyMap<string, FileRecord> = new Map();
  const parser = createFileParser(context, patience);
  return {
    close: parser.close,
    async read(onDirectory = () => Promise.resolve()) {
      const before = records;
      records = new Map();
      const listing = await walkFolder(context.dir, onDirectory, patience);
      const read = await mapLimit(listing.files, parallel, (file) =>
        recordOf(file, before, { context, parser, patience }),
      ).finally(parser.rest);
      records = new Map(
        read.flatMap((record, i) =>
          record === undefined ? [] : [[keyOf(listing.files[i]), record]],
        ),
      );
      const changed = listing.files.filter(
        (file) => before.get(keyOf(file))?.entries !== records.get(keyOf(file))?.entries,
      );
      return { ...stateOf(listing, before, [...records.values()]), changed };
    },
  };
}

function stateOf(
  listing: FolderListing,
  before: ReadonlyMap<string, FileRecord>,
  records: readonly FileRecord[],
): Omit<FolderState, "changed"> {
  const entries = records.flatMap((record) => record.entries);
  const clashes = [...Map.groupBy(entries, ({ node }) => node).values()].flatMap(clashesOf);
  const problems = [
    ...listing.problems,
    ...records.flatMap((record) => record.problems),
    ...clashes.map(({ problem }) => problem),
  ];
  const known = new Set(Array.from(before.values(), (record) => record.entries));
  const parsed = records.filter(({ entries, hash }) => hash !== "" && !known.has(entries));
  const paths = listing.files.map(keyOf);
  const removed = new Set(before.keys()).difference(new Set(paths));
  const attached = new Set(records.flatMap((record) => record.attached.map(({ path }) => path)));
  return {
    directories: listing.directories,
    paths,
    emptyFiles: listing.files.filter(({ stats }) => stats.size === 0).map(keyOf),
    files: records.length,
    entries,
    clashing: new Set(clashes.flatMap(({ between }) => between)),
    problems: distinct(problems).sort(byPlace),
    warnings: [
      ...listing.warnings.filter(({ file }) => !attached.has(file)),
      ...records.flatMap((record) => record.warnings),
    ],
    references: records.flatMap((record) => record.references),
    links: [...listing.links, ...attached],
    edits: parsed.length + removed.size,
  };
}

/** Reads one file. Returns `undefined` if the file was removed since the folder was listed; the watch reports this. */
async function recordOf(
  file: FoundFile,
  before: ReadonlyMap<string, FileRecord>,
  { context, parser, patience }: Recording,
): Promise<FileRecord | undefined> {
  const known = before.get(keyOf(file));
  const path = join(context.dir, ...file.segments);
  const unsaved = context.unsaved?.(path);
  const stamp = unsaved ?? `${stampOf(file.stats)}${file.pem ?? ""}`;
  if (known?.stamp === stamp && !known.young && (await areUnchanged(known.attached, patience)))
    return known;
  const young = unsaved === undefined && isYoung(Math.max(file.stats.mtimeMs, file.stats.ctimeMs));
  try {
    const isBare = known?.attached.length === 0;
    const parsed = await parser.parse(file, isBare ? known.hash : undefined);
    if (parsed === undefined) return known && { ...known, stamp, young };
    const isPem = file.pem !== undefined;
    const content = await attachFiles(parsed, { file: path, context, patience, isPem });
    const { attached, digest } = content;
    const record = {
      stamp,
      young: young || attached.some(({ changedMs }) => isYoung(changedMs)),
      hash: digest === "" ? parsed.hash : `${parsed.hash} ${digest}`,
      attached,
    };
    // A file with problems is parsed again even if its hash is equal, since the hash does not include errors.
    return known?.hash === record.hash && known.problems.length + content.problems.length === 0
      ? { ...known, ...record }
      : { ...record, ...recordedContent(context, file, content) };
  } catch (error) {
    if (isGone(error)) return undefined;
    const problems = [{ file: path, ...fileTrouble(error) }];
    return {
      stamp,
      young: true,
      hash: "",
      entries: [],
      problems,
      warnings: [],
      references: [],
      attached: [],
    };
  }
}

/** The objects that read a file. */
interface Recording {
  readonly context: FolderContext;
  readonly parser: FileParser;
  readonly patience: Patience;
}

function isYoung(changedMs: number): boolean {
  return systemClock.wallTime() - changedMs < stampGrainMs;
}

function recordedContent(
  context: FolderContext,
  { segments }: FoundFile,
  { puts, problems, warnings, references }: FileContent,
): Pick<FileRecord, "entries" | "problems" | "warnings" | "references"> {
  const file = join(context.dir, ...segments);
  const node = puts.length === 0 ? undefined : nodeOf(segments);
  const entries = puts.map(({ isFaulty, place, ...put }): FolderEntry => {
    const { typeUrl, resource } = put;
    const variant = variantOf(resource.constraints);
    return {
      file,
      ...(node !== undefined && { node }),
      typeUrl,
      name: resource.name,
      ...(variant && { variant }),
      aliases: resource.aliases ?? [],
      ...usageOf(
        typeUrl,
        [resource.name, ...(resource.aliases ?? [])],
        referencesOfEntry({ typeUrl, put }, context),
      ),
      ...(place && { place }),
      ...(isFaulty && { isFaulty }),
      put,
    };
  });
  return { entries, problems, warnings, references };
}

function keyOf(file: FoundFile | undefined): string {
  return file?.segments.join("/") ?? "";
}

function distinct(problems: readonly FolderProblem[]): FolderProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function byPlace(a: FolderProblem, b: FolderProblem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
