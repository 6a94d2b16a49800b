import { createHash, webcrypto } from "node:crypto";
import type { FolderContext } from "./folder-context.ts";
import { type ParserThread, startParserThread } from "./parser-thread.ts";
import { type FileContent, readFile } from "./read-file.ts";

/** A file up to this size is parsed in place, within a few tens of milliseconds; a larger one in a thread of its own. */
const mostInPlace = 256 * 1024;

/** A parsed file. */
export interface ParsedFile extends FileContent {
  /** The SHA-256 of its bytes in base64. */
  readonly hash: string;
}

/** Parses files, small ones in place and large ones in a thread, one of these at a time. */
export interface FileParser {
  /** Parses the bytes of a file, which must not be used afterwards. undefined: they have the hash that is known. Rejects only where no thread can be had. */
  readonly parse: (segments: readonly string[], bytes: Uint8Array<ArrayBuffer>, knownHash: string | undefined) => Promise<ParsedFile | undefined>;
  /** Ends the thread and gives its memory back; the next large file starts another one. */
  readonly rest: () => void;
}

/** Creates a parser without a thread. */
export function createFileParser(context: FolderContext): FileParser {
  let thread: Promise<ParserThread> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const rest = (): void => {
    void thread?.then(({ close }) => { close(); }, () => undefined);
    thread = undefined;
  };
  const parseLarge = async (segments: readonly string[], bytes: Uint8Array<ArrayBuffer>): Promise<FileContent> => {
    const started = await (thread ??= startParserThread(context));
    const content = await started.parse(segments, bytes);
    if (content.problems.length > 0) rest(); // It may have run out of memory.
    return content;
  };
  return {
    rest,
    async parse(segments, bytes, knownHash) {
      const isLarge = bytes.length > mostInPlace;
      const hash = isLarge ? await hashInBackground(bytes) : createHash("sha256").update(bytes).digest("base64");
      if (hash === knownHash) return undefined;
      if (!isLarge) return { hash, ...readFile(segments, bytes, context) };
      const parsed = last.then(() => parseLarge(segments, bytes));
      last = parsed.catch(rest);
      return { hash, ...await parsed };
    },
  };
}

async function hashInBackground(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("base64");
}
