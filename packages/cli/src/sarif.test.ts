import { Ajv } from "ajv";
import formats from "ajv-formats";
import { problemCodes } from "@xdstp/folder";
import { describe, expect, it } from "vitest";
import { sarifSchema } from "../test/sarif-schema.ts";
import { type Found, sarifLog } from "./sarif.ts";

const ajv = new Ajv({ allErrors: true, strictTypes: false });
formats.default(ajv);
const validate = ajv.compile(sarifSchema);

/** Returns the errors of the schema for a log. */
function faults(found: readonly Found[]): readonly string[] {
  const log: unknown = JSON.parse(JSON.stringify(sarifLog(found, "/project")));
  validate(log);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const problem: Found = {
  file: "/project/config/größe 1 %.yaml",
  line: 3,
  column: 1,
  code: "constraint",
  message: "is wrong",
  hint: "change it",
  rule: "duration.gt",
  severity: "error",
};

describe("sarifLog()", () => {
  it.each<readonly [what: string, found: readonly Found[]]>([
    ["nothing", []],
    ["a problem", [problem]],
    ["one outside of the directory", [{ ...problem, file: "/elsewhere/a b#c?.yaml" }]],
    ["one of the directory itself", [{ ...problem, file: "/project" }]],
    [
      "one without a place or rule",
      [{ file: "/project/a", code: "empty-file", message: "is empty", severity: "warning" }],
    ],
    [
      "each code",
      Object.keys(problemCodes).map((code) => ({ ...problem, code: code as Found["code"] })),
    ],
  ])("of %s is one by the schema of SARIF 2.1.0", (_, found) => {
    expect(faults(found)).toEqual([]);
  });

  it("has lines and columns from 1", () => {
    expect(faults([{ ...problem, line: 0 }])).toEqual([
      "/runs/0/results/0/locations/0/physicalLocation/region/startLine must be >= 1",
    ]);
  });
});
