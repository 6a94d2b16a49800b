import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Writes files into a folder for one test. Returns a function that gives the path of a name. */
export function useFolder(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
  return (name) => join(folder, name);
}
