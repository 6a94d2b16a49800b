import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { publicPackages } from "./public-packages.ts";

const reports = [...publicPackages.values()].flatMap(({ folder }) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".api.md"))
    .map((file) => ({ file, path: join(folder, file) })),
);

/** The first lines of exports without a doc comment. Members stand indented, and may do without where their names say it. */
const undocumented = (report: string): readonly string[] =>
  Array.from(report.matchAll(/^\/\/ .*\(undocumented\)\n(.*)$/gm), ([, line = ""]) => line);

describe("an API report", () => {
  it.each(reports)("$file has no export without a doc comment", ({ path }) => {
    expect(undocumented(readFileSync(path, "utf8"))).toEqual([]);
  });

  it("is there for every public package that has entries", () => {
    expect(reports.length).toBeGreaterThanOrEqual(publicPackages.size);
  });
});
