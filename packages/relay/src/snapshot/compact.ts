import { rm, type FileHandle } from "node:fs/promises";

import { decodeFrame, FrameKind, type FrameMeta } from "./frame.ts";
import { writeBatch, type Change, type Journal, type Place } from "./journal.ts";
import { collectionMeta } from "./load-snapshot.ts";
import { readAt } from "./read-journal.ts";
import type { SnapshotRecord } from "./record.ts";
import type { SnapshotIndex } from "./snapshot-index.ts";

/** What {@link compact} needs. */
export interface Compaction {
  readonly journal: Journal;
  readonly index: SnapshotIndex;
  readonly now: () => number;
  /** Writes what waits. */
  readonly append: () => Promise<void>;
  /** These cannot be read any more. */
  readonly lose: (lost: readonly SnapshotRecord[]) => void;
}

/**
 * Writes what is of use into a new file, which takes the place of the other one as a whole. What is said meanwhile goes to the old file as ever, and is copied behind it at last;
 * so a crash at any time leaves a whole file, with all that was on disk.
 */
export async function compact(compaction: Compaction): Promise<void> {
  const { journal, index, append } = compaction;
  const { end: start, batch } = journal;
  const path = `${journal.path}.new`;
  const reader = journal.reader;
  const file = await journal.create(path);
  try {
    const places = new Map<SnapshotRecord, Place>();
    const end = await writeBase(compaction, reader, file, batch, places);
    await append();
    await journal.copyTo(file, start, end);
    const shift = end - start;
    await journal.replaceBy(path, file, journal.end + shift);
    for (const record of index) {
      const place =
        record.at >= start ? { at: record.at + shift, length: record.length } : places.get(record);
      if (place !== undefined && record.at >= 0) index.place(record, place.at, place.length);
    }
    journal.turn();
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** So many records are copied between two looks at what waits. */
const STEP = 1_000;

async function writeBase(
  { index, now, append, lose }: Compaction,
  reader: number,
  file: FileHandle,
  batch: number,
  places: Map<SnapshotRecord, Place>,
): Promise<number> {
  for (const record of [...index])
    if (record.expiresAt !== undefined && record.expiresAt <= now()) index.delete(record);
  const kept = [...index].filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
  const collections = [...index.collections()];
  let end = 0;
  for (let from = 0; from < kept.length; from += STEP) {
    const copies = copiesOf(reader, kept.slice(from, from + STEP), lose);
    const written = await writeBatch(
      file,
      end,
      batch,
      copies.map(([, change]) => change),
      now(),
    );
    copies.forEach(([record], nth) => {
      const place = written.places[nth];
      if (place !== undefined) places.set(record, place);
    });
    end = written.end;
    await append();
  }
  return (
    await writeBatch(
      file,
      end,
      batch,
      collections.map((collection) => ({
        kind: FrameKind.COLLECTION,
        meta: collectionMeta(collection, true),
      })),
      now(),
    )
  ).end;
}

function copiesOf(
  reader: number,
  records: readonly SnapshotRecord[],
  lose: Compaction["lose"],
): readonly (readonly [SnapshotRecord, Change])[] {
  const frames = records.map(
    (record) => [record, decodeFrame(readAt(reader, record.at, record.length))] as const,
  );
  const lost = frames.flatMap(([record, frame]) => (frame?.meta.n === record.name ? [] : record));
  if (lost.length > 0) lose(lost);
  return frames.flatMap(([record, frame]) =>
    frame?.meta.n === record.name
      ? [
          [
            record,
            { kind: frame.kind, meta: refreshed(frame.meta, record), data: frame.data },
          ] as const,
        ]
      : [],
  );
}

/** With the time that it expires at now. */
function refreshed(meta: FrameMeta, { expiresAt }: SnapshotRecord): FrameMeta {
  if (meta.ex === expiresAt) return meta;
  const { ex, ...others } = { ...meta, ex: expiresAt };
  return ex === undefined ? others : { ...others, ex };
}
