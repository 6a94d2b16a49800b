import { closeSync, constants, copyFileSync, fstatSync, renameSync } from "node:fs";

import { XdsError, type XdsErrorContext } from "@xdstp/core";

import { FrameKind, type Frame, type FrameMeta } from "./frame.ts";
import { FORMAT, type Journal, type Place } from "./journal.ts";
import { openPrivateFile } from "./private-files.ts";
import { readJournal, type Gap, type PlacedFrame } from "./read-journal.ts";
import { createRecord, factsOf, type SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./shelf.ts";
import type { SnapshotEvent } from "./snapshot-event.ts";
import type { SnapshotIndex } from "./snapshot-index.ts";

/** What {@link loadSnapshot} is told. */
export interface LoadOptions {
  readonly path: string;
  readonly index: SnapshotIndex;
  /** Id of the key that there is. */
  readonly keyId: string | undefined;
  /** Whether a type is not to stand in the file as it is. */
  readonly isSecret: (typeUrl: string) => boolean;
  readonly now: number;
  readonly tell: (event: SnapshotEvent) => void;
}

/** Where a file ends, and whether it is to be written again: there are bytes in it that should not be. */
export type LoadedSnapshot = Pick<Journal, "end" | "batch" | "damaged">;

/**
 * Reads a file into the index; payloads stay where they are. A file with corruption in it, or one that is not a snapshot, is set aside as a whole, and what can be read of it goes on being used.
 * Throws FAILED_PRECONDITION where a newer release wrote it, and the error of the system where it cannot be read.
 */
export function loadSnapshot(options: LoadOptions): LoadedSnapshot {
  const fd = openPrivateFile(options.path);
  if (fd === undefined) return { end: 0, batch: 0, damaged: false };
  try {
    const { size } = fstatSync(fd);
    const exposed: SnapshotRecord[] = [];
    const { end, batch, gaps } = readJournal(fd, size, (frames) => {
      for (const record of apply(options, frames)) exposed.push(record);
    });
    for (const record of exposed) options.index.tear(record);
    if (gaps.length > 0 && end === 0) return replace(options, size);
    if (gaps.length > 0) setAside(options, gaps);
    if (end < size && gaps.at(-1)?.offset !== end) tellTorn(options, size - end);
    return { end, batch, damaged: gaps.length + exposed.length > 0 };
  } finally {
    closeSync(fd);
  }
}

/** Gives secrets that are not encrypted, from before their type was said to be one. They are not used, and may exist, so no collection of theirs is complete. */
function apply(
  { index, keyId, path, isSecret }: LoadOptions,
  frames: readonly PlacedFrame[],
): readonly SnapshotRecord[] {
  const exposed: SnapshotRecord[] = [];
  const set = (meta: FrameMeta, place: Place, state: SnapshotRecord["state"]): void => {
    const facts = factsOf(meta);
    index.set(
      createRecord({
        ...facts,
        ...place,
        state,
        typeUrl: index.shelf(facts.space, facts.typeUrl).typeUrl,
      }),
    );
  };
  for (const {
    frame: { kind, meta, length },
    at,
  } of frames) {
    const place = { at, length };
    switch (kind) {
      case FrameKind.PUT:
        if (!isSecret(meta.t ?? "")) {
          set(meta, place, "stored");
          break;
        }
        exposed.push(createRecord(factsOf(meta)));
        remove(index, meta);
        break;
      case FrameKind.SEALED:
        set(meta, place, meta.k === keyId ? "stored" : "locked");
        break;
      case FrameKind.WITHHOLD:
        set(meta, place, "withheld");
        break;
      case FrameKind.REMOVE:
        remove(index, meta);
        break;
      case FrameKind.REFRESH:
        refresh(index, meta);
        break;
      case FrameKind.COLLECTION:
        collect(index, meta, length);
        break;
      case FrameKind.COMMIT:
        checkFormat(path, meta);
        break;
      default:
        throw newer(path);
    }
  }
  return exposed;
}

function checkFormat(path: string, { format = 0 }: FrameMeta): void {
  if (format > FORMAT) throw newer(path);
}

function newer(path: string): XdsError {
  return new XdsError(
    "FAILED_PRECONDITION",
    `${path} was written by a newer release; use that one, or give this one a directory of its own`,
  );
}

function remove(index: SnapshotIndex, meta: FrameMeta): void {
  const found = index.find(createRecord(factsOf(meta)));
  if (found !== undefined) index.delete(found);
}

function refresh(index: SnapshotIndex, meta: FrameMeta): void {
  const found = index.find(createRecord(factsOf(meta)));
  if (found !== undefined) found.expiresAt = meta.ex;
}

function collect(index: SnapshotIndex, meta: FrameMeta, length: number): void {
  const collection = { ...collectionOf(meta), length };
  if (meta.f === true) index.setCollection(collection);
  else index.deleteCollection(collection);
}

function collectionOf({
  t = "",
  n = "",
  s = "",
  at = 0,
  p,
  e,
}: FrameMeta): Omit<StoredCollection, "length"> {
  return {
    space: s,
    typeUrl: t,
    interest: { name: n, ...(p !== undefined && { parameters: new Map(p) }) },
    at,
    ...(e !== undefined && { error: errorOf(e, { typeUrl: t, resource: n }) }),
  };
}

function errorOf(
  { code, text, said }: NonNullable<FrameMeta["e"]>,
  about: XdsErrorContext,
): XdsError {
  return new XdsError(code, text, { ...about, ...(said !== undefined && { said }) });
}

/** How a collection is written. */
export function collectionMeta(
  { space, typeUrl, interest: { name, parameters }, at, error }: StoredCollection,
  complete: boolean,
): Frame["meta"] {
  return {
    t: typeUrl,
    n: name,
    at,
    f: complete,
    ...(space !== "" && { s: space }),
    ...(parameters !== undefined && { p: [...parameters] }),
    ...(error !== undefined && {
      e: {
        code: error.code,
        text: error.text,
        ...(error.context.said !== undefined && { said: error.context.said }),
      },
    }),
  };
}

/** The lost part may have said anything, so no collection is complete. */
function setAside({ path, index, now, tell }: LoadOptions, gaps: readonly Gap[]): void {
  const aside = asideOf(path, now);
  const bytes = gaps.reduce((sum, gap) => sum + gap.bytes, 0);
  const offset = gaps[0]?.offset ?? 0;
  index.tearAll();
  let kept = `as it was it is kept as ${aside}`;
  try {
    copyFileSync(path, aside, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    kept = `it could not be copied to ${aside} (${textOf(error)})`;
  }
  const message = `${path} is corrupt at byte ${offset}: ${bytes} bytes in ${gaps.length} places are lost, and with them what upstream had said there; the rest is used, and no collection counts as complete until upstream answers; ${kept}; check the disk, and remove the copy when you do not need it`;
  tell({ kind: "snapshot-corrupt", file: path, aside, offset, bytes, message });
}

/** Nothing of it can be read, so nothing has to be copied: it is renamed, however long it is. */
function replace({ path, now, tell }: LoadOptions, bytes: number): LoadedSnapshot {
  const aside = asideOf(path, now);
  let kept = `it is kept as ${aside}; remove it when you do not need it`;
  try {
    renameSync(path, aside);
  } catch (error) {
    kept = `it could not be renamed to ${aside} (${textOf(error)}), and is overwritten`;
  }
  tell({
    kind: "snapshot-corrupt",
    file: path,
    aside,
    offset: 0,
    bytes,
    message: `${path} is not a snapshot: none of its ${bytes} bytes can be read, so nothing is served from it before upstream answers; ${kept}`,
  });
  return { end: 0, batch: 0, damaged: false };
}

function asideOf(path: string, now: number): string {
  return `${path}.corrupt-${new Date(now).toISOString().replaceAll(":", "-")}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tellTorn({ path, tell }: LoadOptions, bytes: number): void {
  tell({
    kind: "snapshot-torn",
    file: path,
    bytes,
    message: `the last ${bytes} bytes of ${path} were not wholly written, as when a process is killed; the state before them is used, nothing has to be done`,
  });
}
