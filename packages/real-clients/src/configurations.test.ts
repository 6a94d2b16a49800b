import { join } from "node:path";
import { checkBootstrap } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { readConfigurations, useConfigurations } from "./configurations.ts";
import { makeMistakes } from "./make-mistakes.ts";

describe("the configurations of corpus/", () => {
  it("are valid to checkBootstrap(), all of them", async () => {
    const dir = useConfigurations();
    const registry = envoyRegistry();
    const found = await Promise.all(
      readConfigurations().map(async ({ name }) =>
        checkBootstrap({ file: join(dir, name), registry }),
      ),
    );
    expect(found.length).toBeGreaterThanOrEqual(100);
    expect(found.flatMap(({ problems }) => problems)).toEqual([]);
  });
});

describe("makeMistakes()", () => {
  it("makes the same mistakes of a seed, each on a line of its text", () => {
    const make = (): ReturnType<typeof makeMistakes> =>
      makeMistakes(readConfigurations(), createSeededRandom(7), 1);
    const mistakes = make();
    expect(make()).toEqual(mistakes);
    expect(new Set(mistakes.map(({ kind }) => kind)).size).toBeGreaterThan(100);
    for (const { kind, text, lines } of mistakes) {
      expect(lines.size, kind).toBeGreaterThan(0);
      expect(Math.max(...lines), kind).toBeLessThanOrEqual(text.split("\n").length + 1);
    }
  });
});
