import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sizedTests } from "./sized-tests.ts";

function useFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-sized-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

it("finds the tests that read a variable, also by files that they import, around a cycle", () => {
  const folder = useFolder({
    "src/reads.test.ts": "process.env.SIZE",
    "src/imports.test.ts": 'import {\n  scaled,\n} from "../test/harness.ts";',
    "src/re-exports.test.ts": 'export * from "../test/random.ts";',
    "src/effect.test.ts": 'import "../test/random.ts";',
    "src/plain.test.ts": 'import { it } from "vitest";\nimport { a } from "./a.ts";\n',
    "src/a.ts": "export const a = 1;",
    "src/reads.ts": "process.env.SIZE",
    "test/harness.ts": 'import { scaled } from "./random.ts";\nimport "./harness-of.ts";',
    "test/harness-of.ts": 'import "./harness.ts";',
    "test/random.ts": "process.env.SIZE",
    "node_modules/other/src/reads.test.ts": "process.env.SIZE",
    "dist/reads.test.ts": "process.env.SIZE",
  });
  expect(sizedTests(folder, "SIZE")).toEqual([
    "src/effect.test.ts",
    "src/imports.test.ts",
    "src/re-exports.test.ts",
    "src/reads.test.ts",
  ]);
});

it("finds none in a package without such tests", () => {
  expect(sizedTests(useFolder({ "src/a.test.ts": "" }), "SIZE")).toEqual([]);
});
