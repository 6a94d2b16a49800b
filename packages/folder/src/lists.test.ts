import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, AnySchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry, registryWith } from "@xdstp/protos/envoy";
import { ListCollectionSchema, ResourceLocatorSchema } from "@xdstp/protos/xds";
import { describe, expect, it } from "vitest";
import { folderContext } from "./folder-context.ts";
import { formatProblem } from "./folder-problem.ts";
import { type FileContent, readFile } from "./read-file.ts";

/** A descriptor set with a message type of one's own. */
const flags = Buffer.from(
  JSON.stringify({
    file: [
      {
        name: "acme/flag.proto",
        package: "acme.v1",
        syntax: "proto3",
        messageType: [
          {
            name: "Flag",
            field: [{ name: "on", number: 1, label: "LABEL_OPTIONAL", type: "TYPE_BOOL" }],
          },
        ],
      },
    ],
  }),
);
const context = folderContext({ dir: "config", registry: registryWith(flags) });
const clusterType = "envoy.config.cluster.v3.Cluster";

const read = (path: string, content: string | Uint8Array): FileContent =>
  readFile(
    path.split("/"),
    typeof content === "string" ? new TextEncoder().encode(content) : content,
    context,
  );

const entries = (path: string, content: string | Uint8Array) => {
  const { puts, problems } = read(path, content);
  expect(problems).toEqual([]);
  return puts.flatMap(({ resource: { payload } }) =>
    fromBinary(ListCollectionSchema, payload.value).entries.map(({ resourceSpecifier }) =>
      resourceSpecifier.case === "locator"
        ? resourceSpecifier.value.id
        : [resourceSpecifier.value?.name, resourceSpecifier.value?.resource?.typeUrl],
    ),
  );
};

const bad = (path: string, content: string | Uint8Array): string => {
  const { puts, problems } = read(path, content);
  expect(puts).toEqual([]);
  return problems.map(formatProblem).join("\n");
};

const clusters = `a/${clusterType}Collection/all.yaml`;
const flagUrl = "type.googleapis.com/acme.v1.Flag";

describe("readFile() of a list collection", () => {
  const types = ["cluster.v3.Cluster", "route.v3.RouteConfiguration", "listener.v3.Listener"];
  for (const type of types.map((name) => `envoy.config.${name}`))
    it(`takes locators and inline entries of ${type}, whatever Envoy declares [B-LIST-1] [N-82]`, () => {
      const text = `entries:
- locator: xdstp://a/${type}/x
- locator: {authority: a, resource_type: ${type}, id: y}
- inline_entry: {name: z, version: "1", resource: {name: z}}
- inline_entry: {resource: {"@type": type.googleapis.com/${type}}}
`;
      expect(entries(`a/${type}Collection/all.yaml`, text)).toEqual([
        "x",
        "y",
        ["z", `type.googleapis.com/${type}`],
        ["", `type.googleapis.com/${type}`],
      ]);
    });

  it("takes a list of a type of one's own, in each format [B-LIST-1]", () => {
    const yaml =
      "entries: [{locator: xdstp://a/acme.v1.Flag/x}, {inline_entry: {name: y, resource: {on: true}}}]";
    const expected = ["x", ["y", flagUrl]];
    expect(entries("a/acme.v1.FlagCollection/all.yaml", yaml)).toEqual(expected);
    const text = `entries { locator { authority: "a" resource_type: "acme.v1.Flag" id: "x" } }
entries { inline_entry { name: "y" resource { [${flagUrl}] { on: true } } } }`;
    expect(entries("a/acme.v1.FlagCollection/all.txtpb", text)).toEqual(expected);
    expect(
      entries(
        "a/acme.v1.FlagCollection/all.txtpb",
        `# proto-message: acme.v1.FlagCollection\n${text}`,
      ),
    ).toEqual(expected);
    const [put] = read("a/acme.v1.FlagCollection/all.yaml", yaml).puts;
    const bytes = put?.resource.payload.value ?? new Uint8Array();
    expect(entries("a/acme.v1.FlagCollection/all.pb", bytes)).toEqual(expected);
  });

  it("keeps the bytes of a list in binary, text locators too [N-82]", () => {
    const entry = Buffer.concat([
      Buffer.from([0x0a, 25]),
      Buffer.from("xdstp://a/acme.v1.Flag/xy"),
    ]);
    const bytes = Buffer.concat([Buffer.from([0x0a, entry.length]), entry]);
    const { puts, problems } = read("a/acme.v1.FlagCollection/all.pb", bytes);
    expect(problems).toEqual([]);
    expect(puts[0]?.resource.payload.value).toEqual(bytes);
  });

  it("takes an empty list [S-LIST-11]", () => {
    expect(entries(clusters, "entries: []")).toEqual([]);
    expect(entries(clusters, "{}")).toEqual([]);
  });

  it("takes an entry of another list as a member [C-LIST-7]", () => {
    expect(
      entries(clusters, `entries: [{locator: "xdstp://b/${clusterType}Collection/all#entry=x"}]`),
    ).toEqual(["all"]);
  });

  const faults: readonly (readonly [what: string, text: string, problem: string])[] = [
    [
      "an entry that is neither [B-LIST-3]",
      "entries:\n- {}\n",
      `2:3: entries[0] is neither a locator nor inline (write locator: xdstp://AUTHORITY/${clusterType}/ID, or inline_entry: {name: ID, resource: {...}}) [B-LIST-3]`,
    ],
    [
      "an entry that is a text [B-LIST-3]",
      "entries:\n- xdstp://a/t.X/x\n",
      "2:3: entries[0] is neither a locator nor inline (write locator: xdstp://a/t.X/x) [B-LIST-3]",
    ],
    [
      "one entry without a dash [B-LIST-1]",
      `entries:\n  locator: xdstp://a/${clusterType}/x\n`,
      "1:1: entries is one entry, but has to be a list (write a dash before each entry) [B-LIST-1]",
    ],
    [
      "a name that occurs twice [B-LIST-4]",
      "entries:\n- inline_entry: {name: x, resource: {}}\n- inline_entry:\n    name: x\n    resource: {}\n",
      '4:5: entries[1].inline_entry has the name "x" for a second time (use another name) [B-LIST-4]',
    ],
    [
      "an inline entry of another type [B-LIST-4]",
      "entries:\n- inline_entry:\n    resource:\n      '@type': envoy.config.listener.v3.Listener\n",
      `4:7: the @type of entries[0].inline_entry is "type.googleapis.com/envoy.config.listener.v3.Listener", but the members of this list are ${clusterType} (leave @type out) [B-LIST-4]`,
    ],
    [
      "an inline entry without a resource [B-LIST-4]",
      "entries:\n- inline_entry: {name: x}\n",
      `2:3: entries[0].inline_entry has no resource (write locator: xdstp://AUTHORITY/${clusterType}/ID, or inline_entry: {name: ID, resource: {...}}) [B-LIST-4]`,
    ],
    [
      "an inline entry that is a redirect [B-LIST-4]",
      `entries:\n- inline_entry:\n    resource: xdstp://a/${clusterType}/x\n`,
      "3:5: entries[0].inline_entry leads elsewhere, but an inline entry holds its resource (write locator: xdstp://... instead of inline_entry) [B-LIST-4]",
    ],
    [
      "a locator to another type",
      "entries:\n- locator: xdstp://a/t.X/x\n",
      `2:3: xdstp://a/t.X/x has the type t.X; it has to be ${clusterType} [C-REDIR-5]`,
    ],
    [
      "a field that is not one, in an inline entry",
      "entries:\n- inline_entry:\n    resource:\n      conect_timeout: 1s\n",
      `4:7: ${clusterType}: key "conect_timeout" is unknown (did you mean connect_timeout?)`,
    ],
    [
      "a field that is not one",
      "entires: []\n",
      `1:1: ${clusterType}Collection: key "entires" is unknown (did you mean entries?)`,
    ],
  ];
  for (const [what, text, problem] of faults)
    it(`shows ${what}`, () => {
      expect(bad(clusters, text)).toBe(`config/${clusters}:${problem}`);
    });

  it("rejects a list in binary as clients do [B-LIST-3] [B-LIST-4]", () => {
    const path = `a/${clusterType}Collection/all.pb`;
    expect(bad(path, new Uint8Array([0x0a, 0]))).toBe(
      `config/${path}: entry 1 of the list is neither a locator nor inline; give it one of the two [B-LIST-3]`,
    );
    const other = create(ListCollectionSchema, {
      entries: [
        {
          resourceSpecifier: {
            case: "locator",
            value: create(ResourceLocatorSchema, { authority: "a", resourceType: "t.X", id: "x" }),
          },
        },
      ],
    });
    expect(bad(path, toBinary(ListCollectionSchema, other))).toContain(
      "entry 1 of the list has a locator that cannot be used: xdstp://a/t.X/x has the type t.X",
    );
  });

  it("leaves a type alone whose name only ends like that of a list", () => {
    const plain = folderContext({ dir: "config", registry: envoyRegistry() });
    const { problems } = readFile(
      ["a", "acme.v1.FlagCollection", "x.yaml"],
      new TextEncoder().encode("{}"),
      plain,
    );
    expect(problems.map(formatProblem).join()).toContain("is not a known type");
  });

  it("reads a list packed in an Any", () => {
    const packed = anyPack(ListCollectionSchema, create(ListCollectionSchema));
    const any = create(AnySchema, {
      typeUrl: `type.googleapis.com/${clusterType}Collection`,
      value: packed.value,
    });
    expect(entries(`a/${clusterType}Collection/all.pb`, toBinary(AnySchema, any))).toEqual([]);
  });
});
