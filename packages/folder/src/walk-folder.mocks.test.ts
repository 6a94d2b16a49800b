import type { Dirent, Stats } from "node:fs";
import type { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { walkFolder } from "./walk-folder.ts";

/** Creates a folder in memory with a number of empty folders, or with folders nested in each other. */
const tree = vi.hoisted<{ width: number; depth: number }>(() => ({ width: 0, depth: 0 }));
vi.mock(import("node:fs/promises"), async (original) => {
  let inodes = 0n;
  const levelOf = (path: string): number => path.split("/").length - 1;
  return {
    ...(await original()),
    stat: ((_: string, options?: object) =>
      Promise.resolve(
        options === undefined
          ? ({ isDirectory: () => true } as unknown as Stats)
          : { dev: 1n, ino: ++inodes },
      )) as typeof stat,
    readdir: ((path: string) =>
      Promise.resolve(
        Array.from(
          { length: levelOf(path) === 0 ? tree.width : levelOf(path) < tree.depth ? 1 : 0 },
          (__, index) =>
            ({
              name: `d${String(index)}`,
              isSymbolicLink: () => false,
              isFile: () => false,
            }) as unknown as Dirent,
        ),
      )) as unknown as typeof readdir,
  };
});

const walked = (): ReturnType<typeof walkFolder> =>
  walkFolder(
    "root",
    () => Promise.resolve(),
    (_, run) => run(),
  );

it("reads 100,000 folders, and reports more than that as one problem", async () => {
  [tree.width, tree.depth] = [99_999, 0];
  const most = await walked();
  expect([most.directories.size, most.problems]).toEqual([100_000, []]);
  tree.width = 101_000;
  const { directories, problems } = await walked();
  expect(directories.size).toBe(100_000);
  expect(problems).toEqual([
    {
      file: join("root", "d99999"),
      code: "unreadable-file",
      message: "is not read, nor are the folders after it: there are more than 100,000",
      hint: "look for symbolic links to folders",
    },
  ]);
});

it("names the folder that is nested too deeply", async () => {
  [tree.width, tree.depth] = [1, 64];
  expect((await walked()).problems).toEqual([]);
  tree.depth = 65;
  expect((await walked()).problems).toEqual([
    {
      file: join("root", ...Array.from({ length: 65 }, () => "d0")),
      code: "unreadable-file",
      message: "lies in more than 64 folders",
      hint: "look for symbolic links to folders",
    },
  ]);
});
