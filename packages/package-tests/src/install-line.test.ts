import { join } from "node:path";
import { root } from "@xdstp/tools/root";
import { describe, expect, it } from "vitest";
import { installLine } from "./examples.ts";
import { importedPackages } from "./imported-packages.ts";
import { publicPackages } from "./public-packages.ts";

const readmes = [...publicPackages.values()].map(({ name, folder }) => ({
  name,
  readme: join(folder, "README.md"),
}));

describe("the install line of a README", () => {
  // With pnpm, a program cannot import a package that is installed only because another one needs it.
  it.each(readmes)(
    "of $name names it and what its examples import, and nothing else",
    ({ name, readme }) => {
      expect([...installLine(readme)].sort()).toEqual(
        [...new Set([name, ...importedPackages(readme)])].sort(),
      );
    },
  );

  it("of the root names what its example imports, and nothing else", () => {
    const readme = join(root, "README.md");
    expect([...installLine(readme)].sort()).toEqual([...importedPackages(readme)].sort());
  });

  it("is compared with more than the first example, sub-paths and types included", () => {
    const readme = readmes.find(({ name }) => name === "@xdstp/server")?.readme ?? "";
    expect([...importedPackages(readme)]).toEqual(
      expect.arrayContaining([
        "@xdstp/cache",
        "@xdstp/client",
        "@xdstp/core",
        "@xdstp/protos",
        "@xdstp/server",
      ]),
    );
  });
});
