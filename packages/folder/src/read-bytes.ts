import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Patience } from "./patience.ts";

/** A larger file is not configuration that could be served. */
const maxFileBytes = 64 * 1024 * 1024;
/** The event loop has its turn after each of these. */
const chunkBytes = 1024 * 1024;

/** The bytes of a file. Rejects for one above 64 MiB, whatever size it states, and for one that never ends. */
export async function readBytes(path: string, patience: Patience): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await eachChunk(path, patience, (chunk) => chunks.push(chunk.slice()));
  return Buffer.concat(chunks);
}

/** The SHA-256 of a file in base64, without keeping its bytes. Rejects as {@link readBytes} does. */
export async function hashFile(path: string, patience: Patience): Promise<string> {
  const hash = createHash("sha256");
  await eachChunk(path, patience, (chunk) => hash.update(chunk));
  return hash.digest("base64");
}

async function eachChunk(path: string, patience: Patience, take: (chunk: Uint8Array) => unknown): Promise<void> {
  // Some files that look regular wait for more, /proc/kmsg for instance; without waiting they are an error.
  const handle = await patience(path, () => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    await eachOf(handle, path, patience, take);
  } finally {
    void handle.close().catch(() => undefined);
  }
}

async function eachOf(handle: FileHandle, path: string, patience: Patience, take: (chunk: Uint8Array) => unknown): Promise<void> {
  const buffer = new Uint8Array(Math.min(chunkBytes, (await patience(path, () => handle.stat())).size + 1));
  for (let total = 0; ;) {
    const { bytesRead } = await patience(path, () => handle.read(buffer, 0, buffer.length));
    if (bytesRead === 0) return;
    total += bytesRead;
    if (total > maxFileBytes) throw new Error(`is larger than ${maxFileBytes / 1024 / 1024} MiB; split it`);
    take(buffer.subarray(0, bytesRead));
  }
}
