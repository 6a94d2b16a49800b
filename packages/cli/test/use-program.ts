import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll } from "vitest";

const packages = join(import.meta.dirname, "../..");

/** `xdstp`, and what it starts in other processes and threads. */
const programs = {
  bin: join(packages, "cli/src/bin.ts"),
  "relay-child": join(packages, "cli/src/workers/relay-child.ts"),
  "parse-program": join(packages, "folder/src/parse-program.ts"),
  "write-thread": join(packages, "snapshot/src/write-thread.ts"),
};
/** They start a program whose file is next to their own. */
const starters = ["start-child.ts", "parser-process.ts", "snapshot-disk.ts"];

/**
 * Makes a few files of the sources of the command, for the tests of one file, and returns a function
 * that starts it. Node takes 0.5 s of processor time to load its 900 modules and 0.15 s for these
 * files, and some tests start dozens of processes.
 */
export function useProgram(): (args: readonly string[], options: SpawnOptions) => ChildProcess {
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "xdstp-program-"));
    await joinSources(folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return (args, options) =>
    spawn(process.execPath, [join(folder, "bin.js"), ...args], {
      ...options,
      // Compiled code is kept by path, and this folder does not stay.
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") },
    });
}

async function joinSources(folder: string): Promise<void> {
  const joined = await rolldown({
    input: programs,
    platform: "node",
    treeshake: false,
    resolve: { conditionNames: ["@xdstp/source", "node", "import", "default"] },
    plugins: [
      {
        name: "source-places",
        // A module finds the files that it reads, and packages that it requires, from its source.
        transform: (code, id) =>
          starters.some((starter) => id.endsWith(`/${starter}`))
            ? undefined
            : code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
      },
    ],
  });
  await joined.write({ dir: folder, format: "esm" });
  await joined.close();
}
