import { renameSync, writeFileSync } from "node:fs";

/** Replaces a file at once, so that no reader sees half of it. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
