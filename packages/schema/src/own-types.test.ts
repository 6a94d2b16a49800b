import {
  create,
  type MessageInitShape,
  type Registry,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import {
  field as fieldOption,
  FieldRulesSchema,
  file_buf_validate_validate,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { envoyRegistry, registryWith } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { createEditor } from "../test/create-editor.ts";
import { bootstrapSchema, folderSchemas, messageSchema } from "./index.ts";

type Rules = MessageInitShape<typeof FieldRulesSchema>;

const fields: readonly (readonly [name: string, type: Type, rules: Rules, isList?: true])[] = [
  [
    "name",
    Type.STRING,
    { required: true, type: { case: "string", value: { pattern: "^[a-z]+$" } } },
  ],
  [
    "limit",
    Type.UINT32,
    {
      type: {
        case: "uint32",
        value: { greaterThan: { case: "gt", value: 0 }, lessThan: { case: "lte", value: 10 } },
      },
    },
  ],
  [
    "label",
    Type.STRING,
    { ignore: Ignore.IF_ZERO_VALUE, type: { case: "string", value: { minLen: 3n } } },
  ],
  [
    "tags",
    Type.STRING,
    {
      type: {
        case: "repeated",
        value: {
          maxItems: 2n,
          unique: true,
          items: { type: { case: "string", value: { in: ["a", "b"] } } },
        },
      },
    },
    true,
  ],
  ["free", Type.STRING, { ignore: Ignore.ALWAYS, type: { case: "string", value: { minLen: 3n } } }],
];

function fieldProto(
  [name, type, rules, isList]: (typeof fields)[number],
  index: number,
): FieldDescriptorProto {
  const options = create(FieldOptionsSchema, { deprecated: name === "free" });
  setExtension(options, fieldOption, create(FieldRulesSchema, rules));
  const label = isList === true ? Label.REPEATED : Label.OPTIONAL;
  return create(FieldDescriptorProtoSchema, {
    name,
    number: index + 1,
    type,
    label,
    options,
    jsonName: name,
  });
}

/** acme.v1.Flag, with comments. */
const registry: Registry = registryWith(
  toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, {
      file: [
        file_buf_validate_validate.proto,
        ...file_buf_validate_validate.dependencies.map(({ proto }) => proto),
        {
          name: "acme/flag.proto",
          package: "acme.v1",
          syntax: "proto3",
          dependency: ["buf/validate/validate.proto"],
          messageType: [{ name: "Flag", field: fields.map(fieldProto) }],
          sourceCodeInfo: {
            location: [
              { path: [4, 0], leadingComments: " A switch.\n" },
              {
                path: [4, 0, 2, 1],
                leadingComments: " How many may\n use it.\n buf:lint:ignore X\n",
              },
            ],
          },
        },
      ],
    }),
  ),
);

const editor = createEditor(messageSchema(registry, "acme.v1.Flag"));

describe("types of your own", () => {
  it.each([
    ["name: a\nlimit: 3\n", []],
    ["name: a\nlimit: 3\nlabel: ''\nfree: x\ntags: [a]\n", []],
    ["limit: 3\n", ['1: Missing property "name".']],
    ["name: a\n", ['1: Missing property "limit".']],
    ["name: A\nlimit: 3\n", [expect.stringMatching(/^1: String does not match/)]],
    ["name: a\nlimit: 11\n", [expect.stringMatching(/^2: Value is above the maximum of 10/)]],
    ["name: a\nlimit: 0\n", [expect.stringMatching(/^2: Value is below the exclusive minimum/)]],
    ["name: a\nlimit: 1\nlabel: ab\n", [expect.stringMatching(/^3: /)]],
    ["name: a\nlimit: 1\ntags: [c]\n", [expect.stringMatching(/^3: Value is not accepted/)]],
    ["name: a\nlimit: 1\ntags: [a, a]\n", [expect.stringMatching(/^3: Array has duplicate/)]],
  ])("are checked by their buf.validate rules: %j", async (text, problems) => {
    expect(await editor.problemsIn(text)).toEqual(problems);
  });

  it("are described by the comments of their descriptors", async () => {
    expect(await editor.hoverAt("name: a\n‸limit: 3\n")).toMatch(/How many may\s+use it\./);
    expect(await editor.hoverAt("name: a\n‸limit: 3\n")).not.toContain("buf:lint");
    expect(messageSchema(registry, "acme.v1.Flag")).toMatchObject({
      $defs: {
        "acme.v1.Flag": { description: "A switch.", properties: { free: { deprecated: true } } },
      },
    });
  });

  it("are suggested and checked in an Any", async () => {
    const bootstrap = createEditor(bootstrapSchema(registry));
    const text = (type: string): string =>
      `bootstrap_extensions:\n- name: a\n  typed_config:\n    "@type": ${type}\n    limit: 3\n`;
    expect(await bootstrap.suggestionsAt(text("‸"))).toContain("type.googleapis.com/acme.v1.Flag");
    expect(await bootstrap.problemsIn(text("type.googleapis.com/acme.v1.Flag"))).toEqual([
      expect.stringContaining('Missing property "name"'),
    ]);
  });

  it("have folders", () => {
    expect(folderSchemas(registry).folders["acme.v1.Flag.json"]).toEqual(["acme.v1.Flag"]);
    expect(folderSchemas(envoyRegistry()).folders["acme.v1.Flag.json"]).toBeUndefined();
  });
});
