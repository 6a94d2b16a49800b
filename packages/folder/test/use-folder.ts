import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** The contents of files, as text or bytes, by path below the folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * A real folder that is removed after the test. Paths are relative to it, with slashes.
 * The changes of a test between two waits are one change for a feed, also on a busy machine, since no timer can end within them.
 */
export interface FolderFixture {
  readonly dir: string;
  readonly write: (files: Files) => Promise<void>;
  readonly remove: (...paths: readonly string[]) => Promise<void>;
  readonly move: (from: string, to: string) => Promise<void>;
  /** Creates a link. `target` is used as it is. */
  readonly link: (path: string, target: string) => Promise<void>;
}

/** Creates a folder with these files in it. */
export async function useFolder(files: Files = {}): Promise<FolderFixture> {
  const parent = mkdtempSync(join(tmpdir(), "xdstp-folder-"));
  onTestFinished(() => {
    rmSync(parent, { recursive: true, force: true });
  });
  const dir = join(parent, "config");
  mkdirSync(dir);
  const fixture = { ...actions(dir), dir };
  await fixture.write(files);
  return fixture;
}

function actions(dir: string): Omit<FolderFixture, "dir"> {
  const inside = (path: string): string => {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  };
  return {
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) writeFileSync(inside(path), content);
      return Promise.resolve();
    },
    remove: async (...paths) => {
      for (const path of paths) rmSync(join(dir, path), { recursive: true });
      return Promise.resolve();
    },
    move: async (from, to) => {
      renameSync(join(dir, from), inside(to));
      return Promise.resolve();
    },
    link: async (path, target) => {
      symlinkSync(target, inside(path));
      return Promise.resolve();
    },
  };
}
