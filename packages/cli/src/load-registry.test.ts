import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadRegistry } from "./load-registry.ts";

const folder = mkdtempSync(join(tmpdir(), "load-registry-"));
const buf = createRequire(join(import.meta.dirname, "../../../package.json")).resolve(
  "@bufbuild/buf/bin/buf",
);
const rest =
  "; give what `buf build -o FILE` writes, where FILE ends with .binpb, .bin, .json, .txtpb or .yaml, also with .gz or .zst";

/** A file in the folder of this test. */
function file(name: string, content: string | Uint8Array = ""): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

beforeAll(() => {
  file("buf.yaml", "version: v2\n");
  file(
    "own.proto",
    `syntax = "proto3"; package own.v1; import "google/protobuf/descriptor.proto";
    message Rule { repeated string text = 1; } extend google.protobuf.FieldOptions { Rule rule = 50000; }
    message Flag { string on = 1 [(rule) = {text: ["}", "null", "# [x]: {"]}]; }`,
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("loadRegistry()", () => {
  const packings = ["", ".gz", ".zst"];
  it.each(
    [".binpb", ".bin", ".json", ".txtpb", ".yaml"].flatMap((ending) =>
      packings.map((packing) => ending + packing),
    ),
  )("reads what buf build writes into a %s", async (ending) => {
    const image = join(folder, `image${ending}`);
    execFileSync(process.execPath, [buf, "build", "-o", image], { cwd: folder });
    const registry = await loadRegistry([image]);
    expect(registry.getMessage("own.v1.Flag")?.fields.map(({ name }) => name)).toEqual(["on"]);
    expect(registry.getMessage("envoy.config.cluster.v3.Cluster")).toBeDefined();
  });

  it("reads a .yml, its ending in any case", async () => {
    expect(
      (
        await loadRegistry([
          file("a.YML", "file: [{ name: a.proto, package: a, messageType: [{ name: A }] }]"),
        ])
      ).getMessage("a.A"),
    ).toBeDefined();
  });

  it.each([
    ["broken.yaml", "file: [", "not a descriptor set: "],
    ["empty.yaml", "", "not a descriptor set: "],
    ["other.yaml", "node: { id: a }", "it holds no files"],
    ["plain.yaml.gz", "file: []", "not a descriptor set: incorrect header check"],
    ["plain.yaml.zst", "file: []", "not a descriptor set: "],
    ["own.txt", "syntax = 'proto3';", "not a descriptor set: "],
    ["broken.txtpb", "file { name: ", "not a descriptor set: "],
    [
      "broken.binpb.gz",
      Uint8Array.of(0x1f, 0x8b, 0),
      "not a whole compressed file of at most 256 MiB: ",
    ],
  ])("says what is wrong with %s, and what is taken", async (name, content, reason) => {
    const broken = file(name, content);
    const message = await loadRegistry([join(folder, "image.json"), broken]).then(() => "", String);
    expect(message).toContain(`--descriptors ${broken}: ${reason}`);
    expect(message.endsWith(rest)).toBe(true);
    expect(message).not.toContain("\n");
  });

  it("names a file that is not there", async () => {
    await expect(loadRegistry([join(folder, "none.yaml")])).rejects.toThrow(
      `--descriptors ${join(folder, "none.yaml")}: the file does not exist${rest}`,
    );
  });
});
