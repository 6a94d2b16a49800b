import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { root } from "@xdstp/tools/root";
import { run } from "./run.ts";

/** A project of a user in a temporary folder, with nothing in it but what it is told to install. It goes when the test ends. */
export interface EmptyProject {
  /** Installs packages with npm, by name: a tarball, or a version. */
  install(packages: ReadonlyMap<string, string>): Promise<void>;
  /** Type-checks a program in strict mode, the declarations of the packages included, and runs it. */
  checkAndRun(program: string): Promise<void>;
}

/** Makes an {@link EmptyProject}. */
export function createEmptyProject(): EmptyProject {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-pack-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    async install(packages): Promise<void> {
      writeFileSync(join(folder, "package.json"), JSON.stringify(manifestOf(packages)));
      await run(
        "npm",
        [
          "install",
          "--prefer-offline",
          "--no-audit",
          "--no-fund",
          "--ignore-scripts",
          "--loglevel=error",
        ],
        folder,
      );
    },
    async checkAndRun(program): Promise<void> {
      writeFileSync(join(folder, "example.ts"), program);
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
      await run("tsc", ["-p", "tsconfig.json"], folder);
      await run("node", ["example.ts"], folder);
    },
  };
}

// The override makes a dependency of a dependency the tarball too: without it npm would look for a released one.
function manifestOf(packages: ReadonlyMap<string, string>): object {
  return {
    private: true,
    type: "module",
    dependencies: Object.fromEntries(packages),
    overrides: Object.fromEntries([...packages.keys()].map((name) => [name, `$${name}`])),
  };
}

// The settings that `tsc --init` writes, for a program that runs on Node: without the library of the browser, and all declarations are checked.
// The types of Node are the workspace's: they are not a dependency of a package.
const tsconfig: object = {
  compilerOptions: {
    target: "esnext",
    lib: ["esnext"],
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  },
  files: ["example.ts"],
};
