import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorkspacePackage } from "@xdstp/tools/workspace";
import { describe, expect, it } from "vitest";
import { createEmptyProject } from "./empty-project.ts";
import { examplesOf, installLine } from "./examples.ts";
import { usePack } from "./pack-package.ts";
import { publicPackages, withDependencies } from "./public-packages.ts";
import { run } from "./run.ts";

/** Packing needs all packages built, which takes longer than all other tests of this package. */
const isPacking = process.env.XDSTP_PACK === "all";

/** A program that loads all that a package exports. */
const importAll = ({ entries }: WorkspacePackage): string =>
  entries
    .map(
      (entry, index) =>
        `import * as entry${String(index)} from "${entry}";\nconsole.log(Object.keys(entry${String(index)}).length);\n`,
    )
    .join("");

describe("the tests of a package", () => {
  it.each([...publicPackages.values()])(
    "have no name that packers always take into the tarball: $name",
    ({ folder }) => {
      expect(
        globSync("src/**/*.test.ts", { cwd: folder }).filter((file) =>
          /^(readme|licen[cs]e|changelog|copying)/i.test(basename(file)),
        ),
      ).toEqual([]);
    },
  );
});

describe("the tarball of a package", () => {
  it.each([...publicPackages.values()])(
    "contains the changelog of the package: $name",
    ({ folder }) => {
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        readonly files: readonly string[];
      };
      expect(manifest.files).toContain("CHANGELOG.md");
      expect(existsSync(join(folder, "CHANGELOG.md"))).toBe(true);
    },
  );
});

if (isPacking) describe("a packed package", testPackedPackages);

function testPackedPackages(): void {
  const pack = usePack();
  const packAll = async (...names: readonly string[]): Promise<ReadonlyMap<string, string>> =>
    new Map(
      await Promise.all(
        withDependencies(...names).map(
          async (target) => [target.name, `file:${await pack(target)}`] as const,
        ),
      ),
    );

  it("contains the licence and the notice next to those of what is joined into its files", async () => {
    const target = publicPackages.get("@xdstp/cli");
    if (target === undefined) throw new Error("no such package");
    const files = (await run("tar", ["-tzf", await pack(target)], target.folder)).split("\n");
    expect(files).toEqual(
      expect.arrayContaining([
        "package/LICENSE",
        "package/NOTICE",
        "package/dist/bundle/third-party.txt",
      ]),
    );
  }, 120_000);

  it.each([...publicPackages.values()])(
    "$name installs with its dependencies alone, type-checks, loads, and runs its README example",
    async (target) => {
      const readme = join(target.folder, "README.md");
      const project = createEmptyProject();
      await project.install(await packAll(target.name));
      await expect(project.checkAndRun(importAll(target))).resolves.toBeUndefined();

      // The example may use what the README tells to install next to the package; before, that was not there.
      const beside = installLine(readme).filter((name) => name !== target.name);
      const foreign = beside
        .filter((name) => !publicPackages.has(name))
        .map((name) => [name, "*"] as const);
      const own = beside.filter((name) => publicPackages.has(name));
      if (beside.length > 0)
        await project.install(new Map([...(await packAll(target.name, ...own)), ...foreign]));
      await expect(project.checkAndRun(examplesOf(readme)[0])).resolves.toBeUndefined();
    },
    1_200_000,
  );
}
