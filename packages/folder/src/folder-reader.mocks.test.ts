import type { Stats } from "node:fs";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it, vi } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { folderContext } from "./folder-context.ts";
import { createFolderReader } from "./folder-reader.ts";

/** A file system whose times do not change, so that a second write changes only the content. */
const fileTime = vi.hoisted<{ ms?: number }>(() => ({}));
vi.mock(import("node:fs/promises"), async (original) => {
  const actual = await original();
  const stat = async (...args: Parameters<typeof actual.stat>) => {
    const stats = await actual.stat(...args);
    return fileTime.ms === undefined || typeof stats.size === "bigint"
      ? stats
      : Object.assign(stats as Stats, { mtimeMs: fileTime.ms, ctimeMs: fileTime.ms });
  };
  return { ...actual, stat: stat as typeof actual.stat };
});

const useReader = async (files: Record<string, string>) => {
  const folder = await useFolder(files);
  return {
    ...folder,
    reader: createFolderReader(folderContext({ dir: folder.dir, registry: envoyRegistry() })),
  };
};

describe("createFolderReader()", () => {
  it("parses only the files that have changed", async () => {
    const { reader, write } = await useReader({
      "a/clusters/x.yaml": "{}",
      "a/clusters/y.yaml": "{}",
    });
    expect((await reader.read()).edits).toBe(2);
    expect((await reader.read()).edits).toBe(0);
    await write({ "a/clusters/y.yaml": "type: EDS" });
    expect(await reader.read()).toMatchObject({ edits: 1, files: 2 });
  });
  it.each([
    [
      "reads a file again that was written so lately that a second write may have the same time",
      0,
      1,
    ],
    ["does not read a file again whose time and size have long been the same", 60_000, 0],
  ])("%s", async (_, ageMs, edits) => {
    const { reader, write } = await useReader({ "a/clusters/x.yaml": "connect_timeout: 1s" });
    fileTime.ms = Date.now() - ageMs;
    await reader.read();
    await write({ "a/clusters/x.yaml": "connect_timeout: 2s" });
    expect((await reader.read()).edits).toBe(edits);
    delete fileTime.ms;
  });
  it("does not parse a file again that was saved without a change, or replaced by its equal", async () => {
    const { reader, write, move } = await useReader({ "a/clusters/x.yaml": "{}" });
    const before = await reader.read();
    await write({ "a/clusters/x.yaml": "{}", "a/clusters/.new": "{}" });
    expect((await reader.read()).edits).toBe(0);
    await move("a/clusters/.new", "a/clusters/x.yaml");
    const after = await reader.read();
    expect(after.edits).toBe(0);
    expect(after.entries[0]).toBe(before.entries[0]);
  });
  it("parses a file again that was gone for a while", async () => {
    const { reader, move } = await useReader({ "a/clusters/x.yaml": "{}" });
    await reader.read();
    await move("a/clusters/x.yaml", "kept");
    expect(await reader.read()).toMatchObject({ files: 0, entries: [] });
    await move("kept", "a/clusters/x.yaml");
    expect(await reader.read()).toMatchObject({ edits: 1, entries: [{ put: {} }] });
  });
  it("forgets everything when the folder is gone, and reads it anew", async () => {
    const { reader, move, dir } = await useReader({ "a/clusters/x.yaml": "{}" });
    await reader.read();
    await move(".", "../away");
    await expect(reader.read()).rejects.toThrow("ENOENT");
    await move("../away", "../config");
    expect(dir.endsWith("config")).toBe(true);
    expect(await reader.read()).toMatchObject({ edits: 1, files: 1 });
  });
  it("names each directory before it lists it", async () => {
    const { reader, dir } = await useReader({ "a/clusters/ns/x.yaml": "{}", ".hidden/x": "" });
    const directories: string[] = [];
    await reader.read((directory) => Promise.resolve(directories.push(directory)));
    expect(directories).toEqual(
      ["", "a", "a/clusters", "a/clusters/ns"].map((path) => join(dir, path)),
    );
  });
});
