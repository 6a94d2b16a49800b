import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Patience } from "./patience.ts";

/** A larger file is not configuration that could be served. */
const maxFileBytes = 64 * 1024 * 1024;
/** The event loop has its turn after each of these. */
const chunkBytes = 1024 * 1024;
/** For files that state no size and have some. */
const leastBytes = 1024;

/** The bytes of a file that states this size. Rejects for one above 64 MiB, whatever size it states, and for one that never ends. */
export async function readBytes(
  path: string,
  size: number,
  patience: Patience,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await patience(path, () => eachChunk(path, { size, take: (chunk) => chunks.push(chunk) }));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** The SHA-256 of a file in base64, without keeping its bytes. Rejects as {@link readBytes} does. */
export async function hashFile(path: string, size: number, patience: Patience): Promise<string> {
  const hash = createHash("sha256");
  await eachChunk(path, { size, take: (chunk) => hash.update(chunk), patience });
  return hash.digest("base64");
}

interface Reading {
  readonly size: number;
  readonly take: (chunk: Uint8Array) => unknown;
  /** For each operation of its own. Absent: the caller has some for all of them. */
  readonly patience?: Patience;
}

async function eachChunk(
  path: string,
  { size, take, patience = (_, run) => run() }: Reading,
): Promise<void> {
  if (size > maxFileBytes) throw tooLarge();
  // Some files that look regular wait for more, /proc/kmsg for instance; without waiting they are an error.
  const handle = await patience(path, () => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    for (let total = 0; ;) {
      const buffer = Buffer.allocUnsafeSlow(
        Math.min(chunkBytes, Math.max(size - total + 1, leastBytes)),
      );
      const { bytesRead } = await patience(path, () => handle.read(buffer, 0, buffer.length));
      total += bytesRead;
      if (total > maxFileBytes) throw tooLarge();
      if (bytesRead > 0) take(buffer.subarray(0, bytesRead));
      if (bytesRead === 0 || (total === size && bytesRead < buffer.length)) return;
    }
  } finally {
    void handle.close().catch(() => undefined);
  }
}

function tooLarge(): Error {
  return new Error(`is larger than ${maxFileBytes / 1024 / 1024} MiB; split it`);
}
