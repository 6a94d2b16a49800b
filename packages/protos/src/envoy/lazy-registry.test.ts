import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { lazyRegistry } from "./lazy-registry.ts";

const image = gunzipSync(
  readFileSync(join(import.meta.dirname, "../../../../proto/envoy.binpb.gz")),
);
const whole = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));

function namesIn(types: Iterable<{ readonly kind: string; readonly typeName: string }>) {
  return Array.from(types, ({ kind, typeName }) => `${kind} ${typeName}`).toSorted();
}

function importsOf({ name, dependencies }: DescFile): readonly string[] {
  return [name, ...dependencies.map((one) => one.name)];
}

it("has the types and files of the registry that decodes all at once", () => {
  const lazy = lazyRegistry(image);
  expect(namesIn(lazy)).toEqual(namesIn(whole));
  expect(Array.from(lazy.files, importsOf)).toEqual(Array.from(whole.files, importsOf));
});

it("finds each type by its name, whichever is requested first", () => {
  const lazy = lazyRegistry(image);
  for (const { kind, typeName } of [...whole].toReversed()) {
    expect(lazy.get(typeName)?.kind).toBe(kind);
    expect(lazy.getMessage(typeName)?.typeName).toBe(whole.getMessage(typeName)?.typeName);
    expect(lazy.getEnum(typeName)?.typeName).toBe(whole.getEnum(typeName)?.typeName);
    expect(lazy.getService(typeName)?.typeName).toBe(whole.getService(typeName)?.typeName);
  }
});

it("has one descriptor of a type, however it is reached", () => {
  const lazy = lazyRegistry(image);
  for (const message of [...lazy].filter((type) => type.kind === "message"))
    for (const field of message.fields) {
      if (field.message !== undefined && field.fieldKind !== "map")
        expect(lazy.get(field.message.typeName)).toBe(field.message);
      if (field.enum !== undefined) expect(lazy.get(field.enum.typeName)).toBe(field.enum);
    }
  for (const file of lazy.files)
    for (const dependency of file.dependencies)
      expect(lazy.getFile(dependency.proto.name)).toBe(dependency);
});

it("finds extensions by what they extend and their number", () => {
  const lazy = lazyRegistry(image);
  for (const one of [...whole].filter((type) => type.kind === "extension")) {
    expect(lazy.getExtensionFor(one.extendee, one.number)?.typeName).toBe(one.typeName);
    expect(lazy.getExtension(one.typeName)?.number).toBe(one.number);
  }
});

it.each(["", ".", "envoy", "envoy.config.cluster.v3.Cluster.None", "envoy.config.cluster.v3.None"])(
  "has no type %j",
  (typeName) => {
    const lazy = lazyRegistry(image);
    expect(lazy.get(typeName)).toBeUndefined();
    expect(lazy.getFile(typeName)).toBeUndefined();
  },
);
