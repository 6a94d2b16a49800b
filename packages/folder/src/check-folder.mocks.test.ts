import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { expect, it, vi } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { checkFolder } from "./check-folder.ts";

/** Counts the files that are read for positions. `code`: the error that reading them has. */
const reads = vi.hoisted(() => ({ open: 0, mostOpen: 0, code: "" }));
vi.mock(import("node:fs/promises"), async (original) => {
  const actual = await original();
  const readFile = async (...args: Parameters<typeof actual.readFile>) => {
    reads.mostOpen = Math.max(reads.mostOpen, ++reads.open);
    try {
      if (reads.code === "") return await actual.readFile(...args);
      throw Object.assign(new Error(reads.code), { code: reads.code });
    } finally {
      reads.open--;
    }
  };
  return { ...actual, readFile: readFile as typeof actual.readFile };
});

const warningsOf = async (files: number) => {
  const { dir } = await useFolder(
    Object.fromEntries(
      Array.from({ length: files }, (_, index) => [
        `_opaque/clusters/c${index}.yaml`,
        "type: EDS\neds_cluster_config: { eds_config: { ads: {} }, service_name: x }\n",
      ]),
    ),
  );
  const { warnings } = await checkFolder({ dir, registry: envoyRegistry() });
  return warnings.map(({ file, message }) => message.replace(join(dir, "/"), file && ""));
};

const dangling = 'refers to endpoints "x", which is not in the folder';

it("opens few files at a time for the places of references", async () => {
  Object.assign(reads, { mostOpen: 0, code: "" });
  expect(await warningsOf(100)).toHaveLength(100);
  expect(reads.mostOpen).toBe(32);
});

it("says which file it cannot open for them", async () => {
  reads.code = "EMFILE";
  expect(await warningsOf(1)).toEqual([
    dangling,
    "cannot be read, because too many files are open (EMFILE)",
  ]);
});

it("needs no file that was removed meanwhile", async () => {
  reads.code = "ENOENT";
  expect(await warningsOf(1)).toEqual([dangling]);
});
