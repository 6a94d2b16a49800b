import { fromBinary, getOption } from "@bufbuild/protobuf";
import type { GenExtension } from "@bufbuild/protobuf/codegenv2";
import type { FieldOptions } from "@bufbuild/protobuf/wkt";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SERVICES } from "../services/index.ts";
import { typeNameFromUrl } from "../type-url.ts";
import { envoyRegistry } from "./index.ts";

const image = join(import.meta.dirname, "../../../../proto/envoy.binpb.gz");

describe("envoyRegistry()", () => {
  it("is built once", () => {
    expect(envoyRegistry()).toBe(envoyRegistry());
  });

  it("has every file of the image in proto/", () => {
    const { file } = fromBinary(FileDescriptorSetSchema, gunzipSync(readFileSync(image)));
    expect(file.length).toBeGreaterThan(0);
    expect([...envoyRegistry().files].map(({ proto }) => proto.name).toSorted()).toEqual(
      file.map(({ name }) => name).toSorted(),
    );
  });

  it.each(SERVICES.flatMap(({ typeUrl }) => typeUrl ?? []))("has %s", (typeUrl) => {
    expect(envoyRegistry().getMessage(typeNameFromUrl(typeUrl))?.typeName).toBe(
      typeNameFromUrl(typeUrl),
    );
  });

  it.each([
    ["contrib", "envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy"],
    ["xds", "xds.type.matcher.v3.Matcher"],
    ["typed structs, the new one", "xds.type.v3.TypedStruct"],
    ["typed structs, the old one", "udpa.type.v1.TypedStruct"],
    ["the well-known types", "google.protobuf.StringValue"],
    ["load reports", "xds.data.orca.v3.OrcaLoadReport"],
  ])("has %s", (_, typeName) => {
    expect(envoyRegistry().getMessage(typeName)?.typeName).toBe(typeName);
  });

  it("has nothing of the API before v3", () => {
    const old = [...envoyRegistry().files].filter(({ name }) =>
      /^envoy\/(api\/v2|.*\/v2)/.test(name),
    );
    expect(old.map(({ name }) => name)).toEqual([]);
  });

  it("keeps the constraints of fields", () => {
    const rules = envoyRegistry().getExtension("validate.rules") as
      GenExtension<FieldOptions> | undefined;
    const name = envoyRegistry().getMessage("envoy.config.cluster.v3.Cluster")?.field.name;
    if (rules === undefined || name === undefined) throw new Error("no rules or no field");
    expect(getOption(name, rules)).toMatchObject({
      type: { case: "string", value: { minLen: 1n } },
    });
  });
});
