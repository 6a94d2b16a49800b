import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Texts or bytes by path below the folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A real folder that is removed after the test. Paths are below it, with slashes. */
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
  const parent = await mkdtemp(join(tmpdir(), "xdstp-folder-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const dir = join(parent, "config");
  await mkdir(dir);
  const fixture = { ...actions(dir), dir };
  await fixture.write(files);
  return fixture;
}

function actions(dir: string): Omit<FolderFixture, "dir"> {
  const inside = async (path: string): Promise<string> => {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    return file;
  };
  return {
    write: async (files) => {
      for (const [path, content] of Object.entries(files)) await writeFile(await inside(path), content);
    },
    remove: async (...paths) => {
      for (const path of paths) await rm(join(dir, path), { recursive: true });
    },
    move: async (from, to) => { await rename(join(dir, from), await inside(to)); },
    link: async (path, target) => { await symlink(target, await inside(path)); },
  };
}
