import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { root } from "@xdstp/tools/root";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examplesOf } from "./examples.ts";
import { publicPackages } from "./public-packages.ts";
import { run } from "./run.ts";
import { notRun, useStandInServer, writeStandIns } from "./stand-ins.ts";

const own = resolve(import.meta.dirname, "..");
// Inside this package, because from here every package of the workspace is found.
const folder = join(own, ".examples");
const readmes = new Map([
  ["the root", join(root, "README.md")],
  ["the short answers", join(root, "docs/HOW-DO-I.md")],
  ...[...publicPackages.values()].map(
    (target) => [target.name, join(target.folder, "README.md")] as const,
  ),
]);
const examples = [...readmes].flatMap(([name, target]) =>
  examplesOf(target).map((code, index) => ({
    name: `${name} ${index + 1}`,
    file: `${basename(name).replaceAll(" ", "-")}.${index + 1}.ts`,
    code,
  })),
);
const runs = examples.filter(({ name }) => !notRun.has(name));
/**
 * Runs the files that it is given, one after the other in one process, since most of the time of an
 * example is the start of Node and the load of the packages. Reports each as a line of JSON.
 */
const runner = `
for (const file of process.argv.slice(2)) {
  let error;
  await import("./" + file).catch((thrown) => (error = thrown?.stack ?? String(thrown)));
  console.log("\\n" + JSON.stringify({ file, error }));
}
`;
let server: Awaited<ReturnType<typeof useStandInServer>>;

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // The sources are checked with it, and those of grpc import Connect, whose declarations need the library of the browser.
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../tsconfig.json",
      compilerOptions: { noUnusedLocals: false, skipLibCheck: false, lib: ["ESNext", "DOM"] },
      include: ["*.ts"],
    }),
  );
  server = await useStandInServer();
  writeStandIns(folder);
  for (const { file, code } of examples) writeFileSync(join(folder, file), server.at(code));
});

afterAll(() => server.close());

describe("the examples of READMEs and of the short answers", () => {
  it("type-check, all of them", async () => {
    await run("tsc", ["-p", "."], folder);
  });

  describe("in one process", () => {
    let end: PromiseSettledResult<string> | undefined;
    let output = "";

    beforeAll(async () => {
      writeFileSync(join(folder, "run.mjs"), runner);
      const files = runs.map(({ file }) => file);
      const args = ["--conditions=@xdstp/source", "run.mjs", ...files];
      [end] = await Promise.allSettled([run("node", args, folder)]);
      output = end.status === "fulfilled" ? end.value : String(end.reason);
    });

    it.each(runs)("$name runs", ({ file }) => {
      const line = output.split("\n").find((one) => one.startsWith(`{"file":"${file}"`));
      expect(line ?? output).toBe(JSON.stringify({ file }));
    });

    it("all leave nothing behind that keeps the process from its end", () => {
      expect(end).toMatchObject({ status: "fulfilled" });
    });
  });

  it.each([...notRun])("%s does not run: %s", (name) => {
    expect(examples.map((example) => example.name)).toContain(name);
  });
});

describe("this package", () => {
  it("depends on every public package, so that a change in one of them runs its tests again", () => {
    const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(Object.keys(manifest.dependencies)).toEqual(
      expect.arrayContaining([...publicPackages.keys()]),
    );
  });
});
