import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  AnySchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { anyFromJson, anyToJson, envoyRegistry, registryWith, withoutSecrets } from "./index.ts";

type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema>;

const root = join(import.meta.dirname, "../../../..");
const buf = createRequire(join(root, "package.json")).resolve("@bufbuild/buf/bin/buf");
const folder = mkdtempSync(join(tmpdir(), "registry-with-"));
const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("registryWith()", () => {
  it("without a set has Envoy's API", () => {
    expect(registryWith().getMessage("envoy.config.cluster.v3.Cluster")).toBe(
      envoyRegistry().getMessage("envoy.config.cluster.v3.Cluster"),
    );
  });

  it("adds a user's own type, inside Envoy's types too", () => {
    const registry = registryWith(setOf(ownFile()));
    const own = { "@type": "type.googleapis.com/own.v1.Own", text: "a" };
    const json = { "@type": cluster, typedExtensionProtocolOptions: { own } };
    expect(anyToJson(anyFromJson(own, registry), registry)).toEqual(own);
    expect(anyToJson(anyFromJson(json, registry), registry)).toEqual(json);
  });

  it("leaves the registry of Envoy's API as it is", () => {
    registryWith(setOf(ownFile()));
    expect(envoyRegistry().getMessage("own.v1.Own")).toBeUndefined();
  });

  it("takes what a set imports and does not hold from Envoy's API", () => {
    const node = {
      name: "node",
      number: 2,
      label: Label.OPTIONAL,
      type: Type.MESSAGE,
      typeName: ".envoy.config.core.v3.Node",
    };
    const file = ownFile({
      dependency: ["envoy/config/core/v3/base.proto"],
      messageType: [{ name: "Own", field: [node] }],
    });
    const registry = registryWith(setOf(file));
    const json = { "@type": "type.googleapis.com/own.v1.Own", node: { id: "a" } };
    expect(anyToJson(anyFromJson(json, registry), registry)).toEqual(json);
  });

  it("takes what a set imports and does not hold from a set given after it", () => {
    const own = {
      name: "own",
      number: 1,
      label: Label.OPTIONAL,
      type: Type.MESSAGE,
      typeName: ".own.v1.Own",
    };
    const user = {
      name: "user.proto",
      package: "user.v1",
      syntax: "proto3",
      dependency: ["own.proto"],
      messageType: [{ name: "User", field: [own] }],
    };
    const registry = registryWith(setOf(user), setOf(ownFile()));
    const json = { "@type": "type.googleapis.com/user.v1.User", own: { text: "a" } };
    expect(anyToJson(anyFromJson(json, registry), registry)).toEqual(json);
  });

  it("replaces a type of Envoy's API, and leaves those that hold it with their own", () => {
    const text = { name: "private_field", number: 900, label: Label.OPTIONAL, type: Type.STRING };
    const file = {
      name: "envoy/config/cluster/v3/cluster.proto",
      package: "envoy.config.cluster.v3",
      syntax: "proto3",
      messageType: [{ name: "Cluster", field: [text] }],
    };
    const registry = registryWith(setOf(file));
    const json = { "@type": cluster, privateField: "a" };
    expect(anyToJson(anyFromJson(json, registry), registry)).toEqual(json);
    expect(() => anyFromJson({ "@type": cluster, name: "a" }, registry)).toThrow(
      'key "name" is unknown',
    );
    const bootstrap = {
      "@type": "type.googleapis.com/envoy.config.bootstrap.v3.Bootstrap",
      staticResources: { clusters: [{ name: "a" }] },
    };
    expect(anyToJson(anyFromJson(bootstrap, registry), registry)).toEqual(bootstrap);
  });

  it("lets the last of two sets with one type count", () => {
    const field = { name: "other", number: 1, label: Label.OPTIONAL, type: Type.STRING };
    const registry = registryWith(
      setOf(ownFile()),
      setOf(ownFile({ messageType: [{ name: "Own", field: [field] }] })),
    );
    expect(registry.getMessage("own.v1.Own")?.fields.map(({ name }) => name)).toEqual(["other"]);
  });

  it("reads files in any order", () => {
    const user = {
      name: "user.proto",
      package: "user.v1",
      syntax: "proto3",
      dependency: ["own.proto"],
      messageType: [{ name: "User" }],
    };
    expect(registryWith(setOf(user, ownFile())).getMessage("user.v1.User")?.typeName).toBe(
      "user.v1.User",
    );
  });

  it.each([
    "own.binpb",
    "own.binpb.gz",
    "own.binpb.zst",
    "own.bin",
    "own.bin.gz",
    "own.json",
    "own.json.gz",
    "own.json.zst",
    "own.txtpb",
    "own.txtpb.gz",
    "own.txtpb.zst",
  ])("reads what buf build writes into %s", (name) => {
    execFileSync(process.execPath, [buf, "build", "-o", join(folder, name)], { cwd: root });
    const registry = registryWith(readFileSync(join(folder, name)));
    expect(
      registry.getMessage("xdstp.wire.v1.ListCollection")?.fields.map((field) => field.name),
    ).toEqual(["entries"]);
  });

  it.each(["json", "txtpb"])(
    "keeps the mark of what is secret, and passes by other options, in %s",
    (format) => {
      const own = mkdtempSync(join(folder, "own-"));
      mkdirSync(join(own, "udpa/annotations"), { recursive: true });
      writeFileSync(join(own, "buf.yaml"), "version: v2\n");
      writeFileSync(
        join(own, "udpa/annotations/sensitive.proto"),
        'syntax = "proto3"; package udpa.annotations; import "google/protobuf/descriptor.proto"; extend google.protobuf.FieldOptions { bool sensitive = 76569463; }',
      );
      writeFileSync(
        join(own, "own.proto"),
        `syntax = "proto3"; package own.v1; import "google/protobuf/descriptor.proto"; import "udpa/annotations/sensitive.proto";
      message Rule { repeated string text = 1; } extend google.protobuf.FieldOptions { Rule rule = 50000; }
      message Login { string user = 1 [(rule) = {text: ["}", "[x]: {"]}]; string password = 2 [(udpa.annotations.sensitive) = true]; }`,
      );
      execFileSync(process.execPath, [buf, "build", "-o", `image.${format}`], { cwd: own });
      const registry = registryWith(readFileSync(join(own, `image.${format}`)));
      const login = anyFromJson(
        { "@type": "type.googleapis.com/own.v1.Login", user: "a", password: "b" },
        registry,
      );
      expect(anyToJson(create(AnySchema, withoutSecrets(login, registry)), registry)).toMatchObject(
        { user: "a", password: "[redacted]" },
      );
    },
  );

  it.each([
    ["nothing", new Uint8Array(), /holds no files; give what `buf build -o FILE\.binpb` writes/],
    ["text", Buffer.from("syntax = 'proto3';"), /not a descriptor set: .+; give what `buf build/],
    [
      "JSON that is cut off",
      Buffer.from('{"file": ['),
      /not a descriptor set: .+; give what `buf build/,
    ],
    ["JSON of something else", Buffer.from('{"node": {}}'), /holds no files/],
    [
      "gzip that is cut off",
      gzipSync(setOf(ownFile())).subarray(0, 30),
      /not a whole compressed file/,
    ],
    // Node 22 gives what there is of it.
    [
      "zstd that is cut off",
      zstdCompressSync(setOf(ownFile())).subarray(0, 12),
      /not a whole compressed file|not a descriptor set/,
    ],
    [
      "text format of something else",
      Buffer.from('node { id: "a" }'),
      /not a descriptor set: .+; give what `buf build/,
    ],
    [
      "text format that is cut off",
      Buffer.from('file { name: "a.proto" '),
      /not a descriptor set: .+; give what `buf build/,
    ],
    ["a set that is cut off", setOf(ownFile()).subarray(0, 20), /not a descriptor set/],
    [
      "a set without its imports",
      setOf(ownFile({ dependency: ["nowhere.proto"] })),
      /own\.proto imports nowhere\.proto, which is neither in a set nor in Envoy's API; build the set with its imports/,
    ],
    [
      "a field of a type that is not there",
      setOf(
        ownFile({
          messageType: [
            {
              name: "Own",
              field: [
                {
                  name: "a",
                  number: 1,
                  label: Label.OPTIONAL,
                  type: Type.MESSAGE,
                  typeName: ".own.v1.Gone",
                },
              ],
            },
          ],
        }),
      ),
      /own\.v1\.Gone/,
    ],
  ])("says which set is wrong for %s", (_, bytes, reason) => {
    expect(() => registryWith(setOf(ownFile()), bytes)).toThrow(/^descriptor set 2: /);
    expect(() => registryWith(setOf(ownFile()), bytes)).toThrow(reason);
  });

  it("rejects a set whose files import each other in a circle", () => {
    const [a, b] = [
      ownFile({ name: "a.proto", dependency: ["b.proto"] }),
      ownFile({ name: "b.proto", package: "b", dependency: ["a.proto"] }),
    ];
    expect(() => registryWith(setOf(a, b))).toThrow(/^descriptor set 1: /);
  });
});

function setOf(...file: FileInit[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

function ownFile(change: FileInit = {}): FileInit {
  const field = { name: "text", number: 1, label: Label.OPTIONAL, type: Type.STRING };
  return {
    name: "own.proto",
    package: "own.v1",
    syntax: "proto3",
    messageType: [{ name: "Own", field: [field] }],
    ...change,
  };
}
