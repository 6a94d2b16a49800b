import { fstatSync, writeSync } from "node:fs";
import { CliError } from "./cli-error.ts";
import type { TextOutput } from "./cli-io.ts";

/**
 * A file as an output: each write is done when it returns, and throws a CliError where the file cannot be written, on a full disk for instance.
 * The next write tries again, on a new line where a write has ended in the middle of one; a stream of Node would be closed by the first error.
 * @param write - Writes the bytes from an offset on and returns how many were written; that of `node:fs` unless a test gives another
 */
export function createFileOutput(
  descriptor: number,
  write: (descriptor: number, bytes: Uint8Array, offset: number) => number = writeSync,
): TextOutput {
  let isCut = false;
  return {
    write(text) {
      const bytes = Buffer.from(isCut ? `\n${text}` : text);
      let at = 0;
      try {
        while (at < bytes.length) at += write(descriptor, bytes, at);
        isCut = false;
      } catch (cause) {
        if (at > 0) isCut = bytes[at - 1] !== newline;
        throw new CliError(
          1,
          `the output cannot be written (${cause instanceof Error ? cause.message : String(cause)}); make room, or write it elsewhere`,
          { cause },
        );
      }
    },
  };
}

const newline = 0x0a;

/** Whether a descriptor is a file, or a device that is not a terminal. */
export function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
}
