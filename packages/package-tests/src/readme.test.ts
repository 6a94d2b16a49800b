import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { root } from "@xdstp/tools/root";
import { beforeAll, describe, expect, it } from "vitest";
import { firstExample } from "./first-example.ts";
import { publicPackages } from "./public-packages.ts";
import { run } from "./run.ts";

const own = resolve(import.meta.dirname, "..");
// Inside this package, because from here every package of the workspace is found.
const folder = join(own, ".examples");
const readmes = new Map([["xdstp", root], ...[...publicPackages.values()].map((target) => [target.name, target.folder] as const)]);
const fileOf = (name: string): string => join(folder, `${basename(name)}.ts`);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // The sources are checked with it, and those of grpc import Connect, whose declarations need the library of the browser.
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.json", compilerOptions: { noUnusedLocals: false, lib: ["ESNext", "DOM"] }, include: ["*.ts"] }));
});

describe("the first example of a README", () => {
  it.each([...readmes])("%s type-checks and runs", async (name, target) => {
    writeFileSync(fileOf(name), firstExample(join(target, "README.md")));
    const project = join(folder, `tsconfig.${basename(name)}.json`);
    writeFileSync(project, JSON.stringify({ extends: "./tsconfig.json", include: [], files: [fileOf(name)] }));
    await run("tsc", ["-p", project], folder);
    await expect(run("node", ["--conditions=@xdstp/source", fileOf(name)], folder)).resolves.toBeTypeOf("string");
  });
});

describe("this package", () => {
  it("depends on every public package, so that a change in one of them runs its tests again", () => {
    const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as { readonly dependencies: Readonly<Record<string, string>> };
    expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining([...publicPackages.keys()]));
  });
});
