import { readResource, type ReceivedResource } from "@xdstp/protocol/client";
import type { Resource } from "@xdstp/core";

import { decodeFrame, FrameKind, type Frame } from "./frame.ts";
import { readAt } from "./read-journal.ts";
import { sealedFor, type SnapshotRecord } from "./record.ts";
import type { Seal } from "./seal.ts";

/** A resource as upstream gave it. */
export interface RestoredRecord {
  readonly record: SnapshotRecord;
  readonly resource: Resource;
}

/** So many bytes are read at once, with those between. */
const CHUNK = 4 << 20;

/** Reads what is stored of records, in the order of the file. Those that are not what was written are `lost`. */
export function readRecords(
  reader: () => number,
  records: readonly SnapshotRecord[],
  seal: Seal | undefined,
): { readonly read: readonly RestoredRecord[]; readonly lost: readonly SnapshotRecord[] } {
  const read: RestoredRecord[] = [];
  const lost: SnapshotRecord[] = [];
  const take = (record: SnapshotRecord, wire: Uint8Array | undefined): void => {
    const resource = wire && resourceOf(record, wire);
    if (resource === undefined) lost.push(record);
    else read.push({ record, resource });
  };
  const placed = records
    .filter((record) => record.resource === undefined)
    .sort((a, b) => a.at - b.at);
  for (const record of records)
    if (record.resource !== undefined) take(record, record.resource.wire);
  if (placed.length > 0)
    readPlaced(reader(), placed, (record, frame) => {
      take(record, frame && bodyOf(record, frame, seal));
    });
  return { read, lost };
}

function readPlaced(
  fd: number,
  records: readonly SnapshotRecord[],
  take: (record: SnapshotRecord, frame: Frame | undefined) => void,
): void {
  for (let from = 0; from < records.length;) {
    const start = records[from]?.at ?? 0;
    let to = from + 1;
    while (
      to < records.length &&
      (records[to]?.at ?? 0) + (records[to]?.length ?? 0) - start <= CHUNK
    )
      to++;
    const last = records[to - 1];
    const bytes = readAt(fd, start, (last?.at ?? 0) + (last?.length ?? 0) - start);
    for (const record of records.slice(from, to))
      take(
        record,
        decodeFrame(bytes.subarray(record.at - start, record.at - start + record.length)),
      );
    from = to;
  }
}

function bodyOf(
  record: SnapshotRecord,
  { kind, meta, data }: Frame,
  seal: Seal | undefined,
): Uint8Array | undefined {
  if (meta.n !== record.name || meta.t !== record.typeUrl) return undefined;
  return kind === FrameKind.SEALED ? seal?.open(data, sealedFor(record)) : data;
}

/** Byte for byte what upstream gave (B-RELAY-3). */
function resourceOf({ typeUrl, version }: SnapshotRecord, wire: Uint8Array): Resource | undefined {
  const bytes = Buffer.from(wire.buffer, wire.byteOffset, wire.length);
  const { payload, fault, ...resource }: ReceivedResource = readResource(
    bytes,
    0,
    bytes.length,
    typeUrl,
  );
  return payload === undefined || fault !== undefined
    ? undefined
    : { ...resource, payload, version };
}
