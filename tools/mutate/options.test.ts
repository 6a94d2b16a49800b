import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseOptions, usage } from "./options.ts";
import { targets } from "./targets.ts";

const known = ["uri", "cache"];

describe("parseOptions()", () => {
  it("takes a quarter of every package where nothing is said, seeded by the day", () => {
    expect(parseOptions([], known, new Date("2001-02-03T04:05:06Z"))).toEqual({
      help: false,
      packages: known,
      files: [""],
      share: 0.25,
      seed: "2001-02-03",
      minutes: 15,
      concurrency: 2,
    });
  });

  it("takes all that can be said, behind the -- of a package manager", () => {
    const args = [
      "--",
      "--package",
      "cache",
      "--file",
      "topic",
      "--file=glob",
      "--sample",
      "1",
      "--seed",
      "s",
      "--minutes",
      "0.5",
      "--concurrency",
      "4",
    ];
    expect(parseOptions(args, known)).toEqual({
      help: false,
      packages: ["cache"],
      files: ["topic", "glob"],
      share: 1,
      seed: "s",
      minutes: 0.5,
      concurrency: 4,
    });
  });

  it.each([
    [
      ["--package", "nopkg"],
      'there is no package "nopkg" to be mutated; the packages are uri, cache',
    ],
    [["--sample", "2"], '--sample is "2"; give a share above 0 and at most 1'],
    [["--minutes", "x"], '--minutes is "x"; give a number above 0'],
    [["--concurrency", "1.5"], '--concurrency is "1.5"; give a whole number above 0'],
    [["--frob"], "--frob"],
    [["nopkg"], "nopkg"],
  ])("rejects %j and says why", (args, reason) => {
    expect(() => parseOptions(args, known)).toThrow(reason);
  });
});

describe("npm run mutate", () => {
  const mutate = (
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
    expect(mutate("--help")).toEqual({
      status: 0,
      stdout: `${usage(Object.keys(targets))}\n`,
      stderr: "",
    });
  });

  it("says of wrong usage what is wrong, and how it is used", () => {
    const { status, stdout, stderr } = mutate("nopkg");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^.*nopkg.*\n/);
    expect(stderr).toContain(usage(Object.keys(targets)));
    expect(stderr).not.toContain("at parse");
  });
});
