import type { MessageInitShape, Registry } from "@bufbuild/protobuf";
import { create, createRegistry, setExtension, toBinary } from "@bufbuild/protobuf";
import type { FieldDescriptorProto } from "@bufbuild/protobuf/wkt";
import {
  AnySchema,
  anyPack,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  file_google_protobuf_any,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import {
  field as fieldOption,
  FieldRulesSchema,
  file_buf_validate_validate,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { envoyRegistry, registryWith } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { packed } from "../test/example-messages.ts";
import { createValidator } from "./create-validator.ts";

type Rules = MessageInitShape<typeof FieldRulesSchema>;

function field(
  name: string,
  number: number,
  type: Type | string,
  rules?: Rules,
): FieldDescriptorProto {
  const options = create(FieldOptionsSchema);
  if (rules !== undefined) setExtension(options, fieldOption, create(FieldRulesSchema, rules));
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    label: Label.OPTIONAL,
    ...(typeof type === "string" ? { type: Type.MESSAGE, typeName: type } : { type }),
    ...(rules === undefined ? {} : { options }),
    jsonName: name,
  });
}

/**
 * Defines message Flags { Flag first = 1; } in a file that does not import rules itself, and
 * message Flag { string name = 1; Flag child = 2; Any extension = 3; Cluster cluster = 4; }.
 */
const descriptorSet = toBinary(
  FileDescriptorSetSchema,
  create(FileDescriptorSetSchema, {
    file: [
      file_buf_validate_validate.proto,
      ...file_buf_validate_validate.dependencies.map(({ proto }) => proto),
      file_google_protobuf_any.proto,
      {
        name: "acme/flag.proto",
        package: "acme.v1",
        syntax: "proto3",
        dependency: [
          "buf/validate/validate.proto",
          "google/protobuf/any.proto",
          "envoy/config/core/v3/address.proto",
        ],
        messageType: [
          {
            name: "Flag",
            field: [
              field("name", 1, Type.STRING, { type: { case: "string", value: { minLen: 2n } } }),
              field("child", 2, ".acme.v1.Flag", {
                cel: [
                  {
                    id: "flag.child",
                    message: "must have another name",
                    expression: "this.name != 'same'",
                  },
                ],
              }),
              field("extension", 3, ".google.protobuf.Any"),
              field("address", 4, ".envoy.config.core.v3.SocketAddress"),
            ],
          },
          {
            name: "Odd",
            field: [field("name", 1, Type.STRING, { cel: [{ id: "odd", expression: "this +" }] })],
          },
        ],
      },
      {
        name: "acme/flags.proto",
        package: "acme.v1",
        syntax: "proto3",
        dependency: ["acme/flag.proto"],
        messageType: [{ name: "Flags", field: [field("first", 1, ".acme.v1.Flag")] }],
      },
    ],
  }),
);
const registry: Registry = registryWith(descriptorSet);
const Flag = flagIn(registry, "acme.v1.Flag");

function flagIn(types: Registry, name: string) {
  const desc = types.getMessage(name);
  if (desc === undefined) throw new Error(`${name} is missing`);
  return desc;
}

describe("types with buf.validate rules", () => {
  it("are checked by the same call, with paths of the same form", async () => {
    const validator = await createValidator({ registry });
    const flag = create(Flag, {
      name: "f",
      child: create(Flag, { name: "same", child: create(Flag, { name: "g" }) }),
    });
    expect(validator.check(Flag, flag)).toMatchObject([
      { field: "name", rule: "string.min_len" },
      { field: "child", rule: "flag.child", message: "must have another name" },
      { field: "child.child.name", rule: "string.min_len" },
    ]);
    expect(validator.check(Flag, create(Flag, { name: "good" }))).toEqual([]);
  });

  it("may have Envoy's messages in them, and be in Envoy's by an Any, each with its rules", async () => {
    const validator = await createValidator({ registry });
    const bad = create(Flag, {
      name: "f",
      address: create(flagIn(registry, "envoy.config.core.v3.SocketAddress"), {}),
    });
    const outer = create(Flag, { name: "outer", extension: anyPack(Flag, bad) });
    const fields = ["address.address", "address.port_specifier", "name"];
    expect(validator.check(Flag, outer).map(({ field: text }) => text)).toEqual(
      fields.map((text) => `extension.${text}`),
    );
    const config = packed("envoy.config.core.v3.TypedExtensionConfig", { name: "x" });
    const filled = { name: "x", typedConfig: anyPack(Flag, bad) };
    const desc = flagIn(registry, "envoy.config.core.v3.TypedExtensionConfig");
    expect(validator.check(AnySchema, config)).toHaveLength(1);
    expect(validator.check(desc, create(desc, filled)).map(({ field: text }) => text)).toEqual(
      fields.map((text) => `typed_config.${text}`),
    );
  });

  it("may be in a message whose file has none", async () => {
    const validator = await createValidator({ registry });
    const Flags = flagIn(registry, "acme.v1.Flags");
    const flags = create(Flags, { first: create(Flag) });
    expect(validator.check(Flags, flags)).toMatchObject([{ field: "first.name" }]);
  });

  it("with a rule that is not CEL cannot be checked, and that is a violation", async () => {
    const validator = await createValidator({ registry });
    const Odd = flagIn(registry, "acme.v1.Odd");
    expect(validator.check(Odd, create(Odd))).toMatchObject([
      {
        rule: "buf.validate",
        message: expect.stringMatching(
          /^cannot be checked: .*; see the rules of acme\.v1\.Odd$/,
        ) as string,
      },
    ]);
  });

  it("have to be in the registry", async () => {
    const validator = await createValidator({ registry: envoyRegistry() });
    expect(() => validator.check(Flag, create(Flag))).toThrow(
      "acme.v1.Flag has buf.validate rules; give its type to the registry of createValidator",
    );
  });

  it("are found by one type of a registry", async () => {
    const validator = await createValidator({ registry: createRegistry(Flag) });
    expect(validator.check(Flag, create(Flag))).toMatchObject([{ field: "name" }]);
  });

  it("that are a hundred thousand messages within each other overflow no stack", async () => {
    const validator = await createValidator({ registry });
    let flag = create(Flag, { name: "good" });
    for (let level = 0; level < 100_000; level++)
      flag = create(Flag, { name: "good", child: flag });
    expect(validator.check(Flag, flag)).toMatchObject([{ rule: "nesting" }]);
  });
});
