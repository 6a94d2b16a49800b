import { renameSync, writeFileSync } from "node:fs";

/** Puts a new file in the place of one, at once: nobody reads half of it. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
