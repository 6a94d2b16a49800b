import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Texts or bytes by path below the folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * A real folder that is removed after the test. Paths are below it, with slashes.
 * What a test does to it without waiting for anything else comes as one change, however busy the machine is: no timer is over within it.
 */
export interface FolderFixture {
  readonly dir: string;
  readonly write: (files: Files) => Promise<void>;
  readonly remove: (...paths: readonly string[]) => Promise<void>;
  readonly move: (from: string, to: string) => Promise<void>;
  /** `target` is taken as it is. */
  readonly link: (path: string, target: string) => Promise<void>;
}

/** Makes a folder with these files in it. */
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
