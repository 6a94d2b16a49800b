import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of one test, with these files. */
export interface TestFolder {
  readonly dir: string;
  write(files: Readonly<Record<string, string>>): void;
  remove(path: string): void;
}

/** Creates a folder that is removed after the test. */
export function useFolder(files: Readonly<Record<string, string>> = {}): TestFolder {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-cli-"));
  // `afterEach` would run for the first test file only, since all files share this module.
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const folder: TestFolder = {
    dir,
    write(more) {
      for (const [path, text] of Object.entries(more)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true });
        writeFileSync(join(dir, path), text);
      }
    },
    remove(path) {
      rmSync(join(dir, path), { recursive: true });
    },
  };
  folder.write(files);
  return folder;
}
