import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { createLocalFiles } from "./local-files.ts";

const files = () => createLocalFiles((_, run) => run());

describe.runIf(process.platform === "linux")("createLocalFiles()", () => {
  it.each([
    ["an empty file", "", 0],
    ["a file of its stated size", "name: a\n", 8],
    ["a file that has become shorter", "name: a\n", 4_000],
    ["a file that has grown a little", "name: a\n", 1],
  ])("reads %s to its end", async (_, text, size) => {
    const { dir } = await useFolder({ "a.yaml": text });
    const bytes = await files().read(join(dir, "a.yaml"), { dev: 1, size });
    expect(bytes && Buffer.from(bytes).toString()).toBe(text);
  });
  it("leaves a file to others that has grown a lot", async () => {
    const { dir } = await useFolder({ "a.yaml": "x".repeat(5_000) });
    expect(await files().read(join(dir, "a.yaml"), { dev: 1, size: 1 })).toBeUndefined();
  });
  it("leaves a file to others whose file system is not on a disk", async () => {
    expect(readFileSync("/proc/version", "utf8")).not.toBe("");
    expect(await files().read("/proc/version", { dev: 1, size: 0 })).toBeUndefined();
  });
  it("rejects a file that does not exist", async () => {
    const { dir } = await useFolder({ "a.yaml": "" });
    const local = files();
    await local.read(join(dir, "a.yaml"), { dev: 1, size: 0 });
    await expect(local.read(join(dir, "b.yaml"), { dev: 1, size: 0 })).rejects.toThrow("ENOENT");
  });
  it("lets other work run between the files of a long pass", async () => {
    const { dir } = await useFolder({ "a.yaml": "x" });
    const local = files();
    let turns = 0;
    const count = (): void => {
      turns += 1;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    const end = performance.now() + 100;
    while (performance.now() < end) await local.read(join(dir, "a.yaml"), { dev: 1, size: 1 });
    clearImmediate(turn);
    expect(turns).toBeGreaterThan(0);
  });
});
