import { createHash } from "node:crypto";
import { join } from "node:path";
import type { FolderContext } from "./folder-context.ts";
import { type ParsedElsewhere, type ParserProcess, startParserProcess } from "./parser-process.ts";
import type { Patience } from "./patience.ts";
import { hashFile, readBytes } from "./read-bytes.ts";
import { readFile } from "./read-file.ts";
import type { FoundFile } from "./walk-folder.ts";

/** A file up to this size is parsed in place, within a few tens of milliseconds; a larger one in a process of its own. */
const mostInPlace = 256 * 1024;

/** Reads and parses files, small ones in place and large ones in a process of their own, one of these at a time. */
export interface FileParser {
  /** undefined: the file has the hash that is known. Rejects where the file cannot be read. */
  readonly parse: (
    file: FoundFile,
    knownHash: string | undefined,
  ) => Promise<ParsedElsewhere | undefined>;
  /** Ends the process and gives its memory back; the next large file starts another one. */
  readonly rest: () => void;
  /** Ends the process for good. Large files are rejected afterwards. */
  readonly close: () => void;
}

/** Creates a parser without a process. */
export function createFileParser(context: FolderContext, patience: Patience): FileParser {
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
    if (content.hash === "") rest(); // It may have run out of memory.
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
    async parse({ segments, stats }, knownHash) {
      const path = join(context.dir, ...segments);
      if (stats.size > mostInPlace) {
        const hash = await hashFile(path, stats.size, patience);
        if (hash === knownHash) return undefined;
        const parsed = await inTurn(segments);
        return { ...parsed, hash: parsed.hash === "" ? hash : parsed.hash };
      }
      const bytes = await readBytes(path, stats.size, patience);
      const hash = createHash("sha256").update(bytes).digest("base64");
      return hash === knownHash ? undefined : { hash, ...readFile(segments, bytes, context) };
    },
  };
}
