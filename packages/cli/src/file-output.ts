import { fstatSync, writeSync } from "node:fs";
import { CliError } from "./cli-error.ts";
import type { TextOutput } from "./cli-io.ts";

/**
 * A file as an output: each write is done when it returns, and throws a CliError where the file cannot be written, on a full disk for instance.
 * The next write tries again; a stream of Node would be closed by the first error.
 */
export function createFileOutput(descriptor: number): TextOutput {
  return {
    write(text) {
      const bytes = Buffer.from(text);
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
      } catch (cause) {
        throw new CliError(1, `the output cannot be written (${cause instanceof Error ? cause.message : String(cause)}); make room, or write it elsewhere`, { cause });
      }
    },
  };
}

/** Whether a descriptor is a file, or a device that is not a terminal. */
export function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
}
