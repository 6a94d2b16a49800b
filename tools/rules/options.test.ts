import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingReports } from "./test-reports.ts";
import { parseOptions, usage } from "./options.ts";

describe("parseOptions()", () => {
  it("shows all rules where nothing is said", () => {
    expect(parseOptions([])).toEqual({ help: false, json: false, problems: false, prefix: "" });
  });

  it("takes a prefix and options, behind the -- of a package manager", () => {
    expect(parseOptions(["--", "S-ACK", "--json", "--problems"])).toEqual({
      help: false,
      json: true,
      problems: true,
      prefix: "S-ACK",
    });
  });

  it("rejects other options, and a second prefix", () => {
    expect(() => parseOptions(["--frob"])).toThrow("--frob");
    expect(() => parseOptions(["S-ACK", "S-ERR"])).toThrow('"S-ERR" is one PREFIX too many');
  });
});

describe("missingReports()", () => {
  it("says nothing where none is missing", () => {
    expect(missingReports([])).toBeUndefined();
  });

  it("names the packages, and how their reports are made", () => {
    expect(missingReports(["@xdstp/uri"])).toBe(
      "no test report of @xdstp/uri; make it: pnpm --filter @xdstp/uri test",
    );
    expect(missingReports(["@xdstp/uri", "@xdstp/core"])).toBe(
      "no test report of @xdstp/uri, @xdstp/core; make them: npm test, or for one package: pnpm --filter @xdstp/uri test",
    );
  });
});

describe("npm run rules", () => {
  const rules = (
    ...args: readonly string[]
  ): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, "main.ts"), ...args],
      { encoding: "utf8" },
    );
    return { status, stdout, stderr };
  };

  it("shows its usage", () => {
    expect(rules("--help")).toEqual({ status: 0, stdout: `${usage}\n`, stderr: "" });
  });

  it("says of wrong usage what is wrong, and how it is used", () => {
    const { status, stdout, stderr } = rules("--frob");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^.*--frob.*\n/);
    expect(stderr).toContain(usage);
    expect(stderr).not.toContain("at parse");
  });
});
