import { crc32 } from "node:zlib";

import type { StatusName } from "@xdstp/core";

/** What a frame says. Numbers are those on disk: they never change. */
export const FrameKind = {
  COMMIT: 0,
  PUT: 1,
  REMOVE: 2,
  WITHHOLD: 3,
  COLLECTION: 4,
  REFRESH: 5,
  SEALED: 6,
} as const;

/** What stands before the bytes of a frame, as JSON; short keys, since there are many. */
export interface FrameMeta {
  /** Type URL. */
  readonly t?: string;
  /** Name asked for. */
  readonly n?: string;
  /** Whose: of a relay with several nodes. Absent: of all. */
  readonly s?: string;
  /** Constraints, in base64. */
  readonly c?: string;
  /** Version as upstream gave it. */
  readonly v?: string;
  /** Version as it is served, where that is another. */
  readonly w?: string;
  readonly a?: readonly string[];
  /** When it was said, in milliseconds since the epoch. */
  readonly at?: number;
  /** When it expires. */
  readonly ex?: number;
  /** CRC-32 of the resource. */
  readonly h?: number;
  /** Length of the resource. */
  readonly l?: number;
  /** Id of the key that it is sealed with. */
  readonly k?: string;
  /** Dynamic parameters of an interest. */
  readonly p?: readonly (readonly [string, string])[];
  /** The collection is known completely. */
  readonly f?: boolean;
  /** Why there is nothing of it; `said`: the words of upstream. */
  readonly e?: { readonly code: StatusName; readonly text: string; readonly said?: string };
  /** Of a commit: the format of the file. */
  readonly format?: number;
}

/** One record of the file. */
export interface Frame {
  readonly kind: number;
  /** Frames of one batch are in force together, with the commit that ends it. */
  readonly batch: number;
  readonly meta: FrameMeta;
  readonly data: Buffer;
  /** With the header. */
  readonly length: number;
}

/** Magic, length of the body, checksum of all that follows; batch, kind, length of the JSON. */
export const HEADER = 21;

export const MAGIC: Buffer = Buffer.from("XSNP");

/** No frame is longer; a resource of Envoy may be large, not so large. */
export const LONGEST: number = 1 << 30;

const NOTHING = new Uint8Array(0);

/** The bytes of a frame. */
export function encodeFrame(
  kind: number,
  batch: number,
  meta: FrameMeta,
  data: Uint8Array = NOTHING,
): Buffer {
  const text = Buffer.from(JSON.stringify(meta));
  const frame = Buffer.allocUnsafe(HEADER + text.length + data.length);
  MAGIC.copy(frame);
  frame.writeUInt32LE(text.length + data.length, 4);
  frame.writeUInt32LE(batch >>> 0, 12);
  frame.writeUInt8(kind, 16);
  frame.writeUInt32LE(text.length, 17);
  text.copy(frame, HEADER);
  frame.set(data, HEADER + text.length);
  frame.writeUInt32LE(crc32(frame.subarray(12)), 8);
  return frame;
}

/** How long the frame is that may begin here; undefined: none does. */
export function frameLength(header: Buffer): number | undefined {
  if (header.length < HEADER || !header.subarray(0, 4).equals(MAGIC)) return undefined;
  const body = header.readUInt32LE(4);
  return body > LONGEST || header.readUInt32LE(17) > body ? undefined : HEADER + body;
}

/** undefined: these are not the bytes that were written. */
export function decodeFrame(bytes: Buffer): Frame | undefined {
  if (frameLength(bytes) !== bytes.length || crc32(bytes.subarray(12)) !== bytes.readUInt32LE(8))
    return undefined;
  const split = HEADER + bytes.readUInt32LE(17);
  const meta = JSON.parse(bytes.toString("utf8", HEADER, split)) as FrameMeta;
  return {
    kind: bytes.readUInt8(16),
    batch: bytes.readUInt32LE(12),
    meta,
    data: bytes.subarray(split),
    length: bytes.length,
  };
}
