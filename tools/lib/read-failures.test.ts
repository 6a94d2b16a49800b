import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readFailures } from "./read-failures.ts";
import { root } from "./root.ts";

function useReport(testResults: readonly unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-failures-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, "vitest.json"), JSON.stringify({ testResults }));
  return join(folder, "vitest.json");
}

it("names each test that failed, with the first lines of what it said", () => {
  const long = `\u001b[31mexpected\u001b[39m\n${"line\n".repeat(50)}`;
  const report = useReport([
    {
      name: join(root, "packages/uri/src/parse.test.ts"),
      status: "failed",
      message: "",
      assertionResults: [
        { fullName: "parse() reads", status: "failed", failureMessages: [long] },
        { fullName: "parse() writes", status: "passed", failureMessages: [] },
      ],
    },
    {
      name: join(root, "packages/uri/src/good.test.ts"),
      status: "passed",
      message: "",
      assertionResults: [],
    },
  ]);
  expect(readFailures("@xdstp/uri", report)).toEqual([
    {
      test: "@xdstp/uri packages/uri/src/parse.test.ts > parse() reads",
      message: `expected\n${"line\n".repeat(11).trimEnd()}`,
    },
  ]);
});

it("leaves out the calls of the test runner", () => {
  const message =
    "expected\n    at /home/me/parse.test.ts:2:32\n    at file:///home/me/node_modules/.pnpm/run.js:1:2";
  const report = useReport([
    { name: join(root, "a.test.ts"), status: "failed", message, assertionResults: [] },
  ]);
  expect(readFailures("@xdstp/uri", report)).toEqual([
    { test: "@xdstp/uri a.test.ts", message: "expected\n    at /home/me/parse.test.ts:2:32" },
  ]);
});

it("names a file that failed before or after its tests", () => {
  const report = useReport([
    {
      name: join(root, "examples/relay/a.test.ts"),
      status: "failed",
      message: "cannot be loaded",
      assertionResults: [],
    },
  ]);
  expect(readFailures("@xdstp/example-relay", report)).toEqual([
    { test: "@xdstp/example-relay examples/relay/a.test.ts", message: "cannot be loaded" },
  ]);
});

it("finds none where there is no report", () => {
  expect(readFailures("@xdstp/uri", "/none/vitest.json")).toEqual([]);
});
