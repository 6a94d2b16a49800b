import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ViteUserConfig } from "vitest/config";
import type { TestSpecification, Vitest } from "vitest/node";
import { sampleFiles } from "./sample-files.ts";
import { ShortestFirst } from "./shortest-first.ts";
import { vitestConfig } from "./stryker-config.ts";
import { summarise } from "./summary.ts";

describe("sampleFiles()", () => {
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `f${String(index)}`,
    lines: 10,
  }));

  it("takes the share of lines that is asked for, rounded up to a file", () => {
    expect(sampleFiles(files, 0.25, "a")).toHaveLength(5);
    expect(sampleFiles(files, 0.26, "a")).toHaveLength(6);
    expect(sampleFiles(files, 1, "a")).toHaveLength(20);
  });

  it("gives the same files for a seed, and others for another", () => {
    expect(sampleFiles(files, 0.25, "a")).toEqual(sampleFiles([...files].reverse(), 0.25, "a"));
    expect(sampleFiles(files, 0.25, "a")).not.toEqual(sampleFiles(files, 0.25, "b"));
  });
});

describe("vitestConfig()", () => {
  it("runs the tests of the named packages alone, without the projects of the checkout", async () => {
    const folder = mkdtempSync(join(tmpdir(), "xdstp-mutate-config-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const file = join(folder, "mutate.vitest.config.ts");
    const root = new URL("../../", import.meta.url).href;
    writeFileSync(file, vitestConfig("core").replaceAll('"./', `"${root}`));
    const { default: config } = (await import(pathToFileURL(file).href)) as {
      readonly default: ViteUserConfig;
    };
    expect(config.test?.projects).toBeUndefined();
    expect(config.test?.include).toEqual(
      ["core", "cache", "protocol"].map((name) => `packages/${name}/{src,test}/**/*.test.ts`),
    );
    expect(config.test?.isolate).toBe(false);
  });
});

describe("ShortestFirst", () => {
  it("runs what it knows nothing of first, then the quicker files before the slower", async () => {
    const durations: Readonly<Record<string, number>> = { slow: 900, quick: 3, middle: 40 };
    const cache = {
      getTestSpecificationResult: ({ moduleId }: TestSpecification) =>
        moduleId in durations ? { duration: durations[moduleId] } : undefined,
    };
    const files = ["slow", "quick", "new", "middle"].map(
      (moduleId) => ({ moduleId }) as unknown as TestSpecification,
    );
    const sorted = await new ShortestFirst({ cache } as unknown as Vitest).sort(files);
    expect(sorted.map(({ moduleId }) => moduleId)).toEqual(["new", "quick", "middle", "slow"]);
  });
});

describe("summarise()", () => {
  const at = (
    line: number,
    from: number,
    to: number,
  ): { start: { line: number; column: number }; end: { line: number; column: number } } => ({
    start: { line, column: from },
    end: { line, column: to },
  });

  it("counts timeouts as kills, what no test reaches as survivors, and neither for what could not run", () => {
    const mutants = ["Killed", "Timeout", "Survived", "NoCoverage", "RuntimeError", "Ignored"].map(
      (status) => ({
        fileName: "a.ts",
        status,
        mutatorName: "M",
        replacement: "false",
        location: at(2, 5, 9),
      }),
    );
    expect(summarise(mutants, () => "x\nif (true)\n")).toEqual({
      killed: 2,
      survived: 2,
      score: 50,
      survivors: ["a.ts:2:5 M: true -> false", "a.ts:2:5 M (no test reaches it): true -> false"],
      timedOut: ["a.ts:2:5 M: true -> false"],
    });
  });

  it("lists survivors by file and place", () => {
    const mutants = [
      ["b.ts", 1],
      ["a.ts", 2],
      ["a.ts", 1],
    ].map(([fileName, line]) => ({
      fileName: String(fileName),
      status: "Survived",
      mutatorName: "M",
      location: at(Number(line), 1, 2),
    }));
    expect(summarise(mutants, () => "xx\nyy").survivors.map((text) => text.split(" ")[0])).toEqual([
      "a.ts:1:1",
      "a.ts:2:1",
      "b.ts:1:1",
    ]);
  });
});
