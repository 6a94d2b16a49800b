import { createHash } from "node:crypto";
import { join } from "node:path";

import { type FileSystem, machineFiles } from "./file-system.ts";
import type { FolderContext } from "./folder-context.ts";
import { createLocalFiles } from "./local-files.ts";
import { type ParsedElsewhere, type ParserProcess, startParserProcess } from "./parser-process.ts";
import type { Patience } from "./pacing.ts";
import { readPemFile } from "./pem-files.ts";
import { readFile } from "./read-file.ts";
import type { FoundFile } from "./walk-folder.ts";

/** The largest file in bytes that is parsed in this process, which takes at most a few tens of milliseconds. A larger file is parsed in another process. */
const mostInPlace = 256 * 1024;

/** Reads and parses files: small ones in this process, large ones in another process, one at a time. */
export interface FileParser {
  /** Returns `undefined` if the file has the hash `knownHash`. Rejects if the file cannot be read. */
  readonly parse: (
    file: FoundFile,
    knownHash: string | undefined,
  ) => Promise<ParsedElsewhere | undefined>;
  /** Ends the other process, which frees its memory. The next large file starts another one. */
  readonly rest: () => void;
  /** Ends the other process permanently. Large files are rejected afterwards. */
  readonly close: () => void;
}

/** Creates a parser. The other process is started with the first large file. */
export function createFileParser(context: FolderContext, patience: Patience): FileParser {
  const localFiles = createLocalFiles(patience);
  let process: Promise<ParserProcess> | undefined;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  const rest = (): void => {
    void process?.then(
      ({ close }) => {
        close();
      },
      () => undefined,
    );
    process = undefined;
  };
  const parseLarge = async (segments: readonly string[]): Promise<ParsedElsewhere> => {
    if (isClosed) throw new Error("is no longer read");
    const { parse } = await (process ??= startParserProcess(context));
    const content = await parse(segments);
    if (content.hash === "") rest(); // The process may have run out of memory.
    return content;
  };
  const inTurn = async (segments: readonly string[]): Promise<ParsedElsewhere> => {
    const parsed = last.then(() => parseLarge(segments));
    last = parsed.catch(rest);
    return await parsed;
  };
  return {
    rest,
    close() {
      isClosed = true;
      rest();
    },
    async parse({ segments, stats, pem }, knownHash) {
      const path = join(context.dir, ...segments);
      if (pem !== undefined) return { hash: pem, ...readPemFile({ segments, pem }, path, context) };
      const unsaved = context.unsaved?.(path);
      if (unsaved === undefined && stats.size > mostInPlace) {
        const hash = await hashFile(path, stats.size, patience);
        if (hash === knownHash) return undefined;
        const parsed = await inTurn(segments);
        return { ...parsed, hash: parsed.hash === "" ? hash : parsed.hash };
      }
      const bytes =
        unsaved === undefined
          ? ((await localFiles.read(path, stats)) ?? (await readBytes(path, stats.size, patience)))
          : new TextEncoder().encode(unsaved);
      const hash = createHash("sha256").update(bytes).digest("base64");
      return hash === knownHash ? undefined : { hash, ...readFile(segments, bytes, context) };
    },
  };
}

/** The largest file that is read, in bytes. A larger one is an error. */
const maxFileBytes = 64 * 1024 * 1024;

/** The number of bytes that are read in one step. Other work of the event loop runs between two steps. */
const chunkBytes = 1024 * 1024;

/** The smallest size of a buffer, for files that report a size of 0 and are not empty. */
const leastBytes = 1024;

/**
 * Returns the bytes of a file with the reported size `size`. Rejects for a file above 64 MiB, even if it reports a smaller size, and for a file that never ends.
 *
 * @param files - Default: the file system of the machine
 */
export async function readBytes(
  path: string,
  size: number,
  patience: Patience,
  files: FileSystem = machineFiles,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await patience(path, () => eachChunk(path, { size, take: (chunk) => chunks.push(chunk), files }));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Returns the SHA-256 of a file in base64 without storing its bytes. Rejects as {@link readBytes} does. */
async function hashFile(path: string, size: number, patience: Patience): Promise<string> {
  const hash = createHash("sha256");
  await eachChunk(path, { size, take: (chunk) => hash.update(chunk), patience });
  return hash.digest("base64");
}

interface Reading {
  readonly size: number;
  readonly take: (chunk: Uint8Array) => unknown;
  /** The time limit of each operation. Absent: the caller limits all of them together. */
  readonly patience?: Patience;
  /** Absent: the file system of the machine. */
  readonly files?: FileSystem;
}

async function eachChunk(
  path: string,
  { size, take, patience = (_, run) => run(), files = machineFiles }: Reading,
): Promise<void> {
  if (size > maxFileBytes) throw tooLarge();
  const handle = await patience(path, () => files.open(path));
  try {
    for (let total = 0; ;) {
      const buffer = Buffer.allocUnsafeSlow(
        Math.min(chunkBytes, Math.max(size - total + 1, leastBytes)),
      );
      const bytesRead = await patience(path, () => handle.read(buffer));
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
