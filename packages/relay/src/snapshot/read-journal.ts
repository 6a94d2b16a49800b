import { readSync } from "node:fs";

import { decodeFrame, FrameKind, frameLength, HEADER, MAGIC, type Frame } from "./frame.ts";

/** A frame and where it lies. */
export interface PlacedFrame {
  /** Without its data: a batch may be as large as the file. */
  readonly frame: Omit<Frame, "data">;
  readonly at: number;
}

/** Bytes that are not what was written. */
export interface Gap {
  readonly offset: number;
  readonly bytes: number;
}

/** What a file has. */
export interface JournalReading {
  /** Where the last whole batch ends: what stands behind it was not wholly written. */
  readonly end: number;
  /** Number of the last batch. */
  readonly batch: number;
  /** Corruption, in order: in the midst of it, and all that stands behind the end where that was never begun as a batch. */
  readonly gaps: readonly Gap[];
}

/**
 * Reads a file from its beginning, and gives the frames of each batch that was wholly written. Bytes that cannot be read are left out: in the midst they are gaps;
 * at the end the batch that they are of was never finished, if it is one: else they are something else's.
 * @param take - Told of the frames of a batch, in order
 */
export function readJournal(
  fd: number,
  size: number,
  take: (frames: readonly PlacedFrame[]) => void,
): JournalReading {
  const window = new Window(fd, size);
  const gaps: Gap[] = [];
  let reading = { end: 0, batch: 0 };
  let open: PlacedFrame[] = [];
  let unsure: Gap[] = [];
  const settle = (end: number, batch: number): void => {
    take(open);
    gaps.push(...unsure);
    open = [];
    unsure = [];
    reading = { end, batch };
  };
  for (let at = 0; at < size;) {
    const frame = window.frame(at);
    if (frame === undefined) {
      const next = window.nextFrame(at + 1);
      unsure.push({ offset: at, bytes: next - at });
      at = next;
      continue;
    }
    const last = open.at(-1);
    // The commit of the batch before is lost: the next one was begun, so it was written.
    if (last !== undefined && last.frame.batch !== frame.batch) settle(at, last.frame.batch);
    const { kind, batch, meta, length } = frame;
    open.push({ frame: { kind, batch, meta, length }, at });
    at += frame.length;
    if (frame.kind === FrameKind.COMMIT) settle(at, frame.batch);
  }
  const isForeign = reading.end === 0 && window.hasGivenUp;
  if (reading.end < size && (isForeign || !window.isBegun(reading.end)))
    gaps.push({ offset: reading.end, bytes: size - reading.end });
  return { ...reading, gaps };
}

/** So much is read at once. */
const CHUNK = 4 << 20;

/** Bytes that are searched for frames in one file. A file with more garbage is another program's, or was filled by a broken disk; reading all of it would keep the relay from starting. */
const SEARCHED = 64 << 20;

/** Looks at a file piece by piece. */
class Window {
  readonly #fd: number;
  readonly #size: number;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #searched = 0;

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
  }

  frame(at: number): Frame | undefined {
    const length = frameLength(this.#at(at, HEADER));
    return length === undefined || at + length > this.#size
      ? undefined
      : decodeFrame(this.#at(at, length));
  }

  /** Whether a batch was begun here: with a frame, or with the zeros of a disk that has not written it before it lost power. */
  isBegun(at: number): boolean {
    const bytes = this.#at(at, MAGIC.length);
    return bytes.equals(MAGIC.subarray(0, bytes.length)) || bytes.every((byte) => byte === 0);
  }

  /** So much of the file was not a frame that the rest was not read. */
  get hasGivenUp(): boolean {
    return this.#searched >= SEARCHED;
  }

  /** Where the next frame begins; the end of the file, if none does, or if too much has been searched. */
  nextFrame(from: number): number {
    for (let at = from; at < this.#size && !this.hasGivenUp;) {
      const bytes = this.#at(at, Math.min(CHUNK, this.#size - at));
      const found = bytes.indexOf(MAGIC);
      const passed = found < 0 ? Math.max(1, bytes.length - MAGIC.length + 1) : found + 1;
      this.#searched += passed;
      if (found < 0) at += passed;
      else if (this.frame(at + found) !== undefined) return at + found;
      else at += passed;
    }
    return this.#size;
  }

  #at(at: number, length: number): Buffer {
    const wanted = Math.min(length, this.#size - at);
    if (at < this.#start || at + wanted > this.#start + this.#bytes.length) {
      this.#bytes = readAt(this.#fd, at, Math.min(Math.max(wanted, CHUNK), this.#size - at));
      this.#start = at;
    }
    return this.#bytes.subarray(at - this.#start, at - this.#start + wanted);
  }
}

/** Fewer bytes than asked for, where the file ends before. */
export function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = readSync(fd, bytes, done, length - done, at + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}
