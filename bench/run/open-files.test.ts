import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { openFilesProblem, raisedCommand } from "./open-files.ts";

describe("openFilesProblem()", () => {
  test("says nothing where the hard limit suffices", () => {
    expect(openFilesProblem(10_100, 10_100)).toBeUndefined();
    expect(openFilesProblem(10_100, Number.POSITIVE_INFINITY)).toBeUndefined();
  });

  test("names need, limit and the ways out where it does not", () => {
    expect(openFilesProblem(10_100, 4096)).toMatch(
      /needs 10100 open files.*is 4096.*limits\.conf.*LimitNOFILE=10100.*--ulimit nofile=10100:10100/,
    );
  });
});

describe.runIf(process.platform !== "win32")("raisedCommand()", () => {
  const softLimit = (under: number, openFiles: number): string => {
    const [command = "", ...args] = raisedCommand(["sh", "-c", "ulimit -Sn"], openFiles);
    return execFileSync("sh", ["-c", `ulimit -Sn ${under}; exec "$0" "$@"`, command, ...args], {
      encoding: "utf8",
    }).trim();
  };

  test("raises a soft limit that is too low, and no other", () => {
    expect(softLimit(300, 400)).toBe("400");
    expect(softLimit(300, 200)).toBe("300");
  });
});
