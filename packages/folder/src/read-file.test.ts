import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { anyPack, AnySchema } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { folderContext } from "./folder-context.ts";
import { readFile, type FileContent } from "./read-file.ts";

const registry = envoyRegistry();
const context = folderContext({ dir: "config", registry });
const clusterType = "envoy.config.cluster.v3.Cluster";
const clusterUrl = `type.googleapis.com/${clusterType}`;
const prefix = `xdstp://a.com/${clusterType}/`;

const read = (path: string, content: string | Uint8Array): FileContent =>
  readFile(
    path.split("/"),
    typeof content === "string" ? new TextEncoder().encode(content) : content,
    context,
  );

/** Returns the content of a file without places, which text format does not have. */
const unplaced = ({ puts, ...content }: FileContent) => ({
  ...content,
  puts: puts.map(({ typeUrl, resource }) => ({ typeUrl, resource })),
});

/** Returns the names and payloads in a file. */
const good = (path: string, content: string | Uint8Array) => {
  const { puts, problems } = read(path, content);
  expect(problems).toEqual([]);
  return puts.map(({ resource }) => ({
    name: resource.name,
    payload: decode(resource.payload.typeUrl, resource.payload.value),
  }));
};
const names = (path: string, content: string | Uint8Array) =>
  good(path, content).map(({ name }) => name);
const bad = (path: string, content: string | Uint8Array) => {
  const { puts, problems } = read(path, content);
  expect(puts).toEqual([]);
  expect(problems).toHaveLength(1);
  return problems[0];
};
const desc = (name: string): DescMessage => {
  const found = registry.getMessage(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const decode = (typeUrl: string, value: Uint8Array): Message & Record<string, unknown> =>
  fromBinary(desc(typeUrl.split("/")[1] ?? ""), value);
const cluster = (fields: object): Uint8Array =>
  anyFromJson({ "@type": clusterUrl, ...fields }, registry).value;
const clusterAny = (fields: object) =>
  create(AnySchema, { typeUrl: clusterUrl, value: cluster(fields) });
const packed = (
  schema: typeof ResourceSchema | typeof DiscoveryResponseSchema,
  message: Message,
): Uint8Array => toBinary(AnySchema, anyPack(schema, message as never));

describe("readFile() of one resource", () => {
  it("names it by its path, and fills the name in", () => {
    expect(good("a.com/clusters/x.yaml", "connect_timeout: 1s")).toMatchObject([
      { name: `${prefix}x`, payload: { name: `${prefix}x`, connectTimeout: { seconds: 1n } } },
    ]);
  });
  it("fills in the name of a ClusterLoadAssignment, whose field is another", () => {
    const name = "xdstp://a.com/envoy.config.endpoint.v3.ClusterLoadAssignment/x";
    expect(good("a.com/endpoints/x.yaml", "{}")).toMatchObject([
      { name, payload: { clusterName: name } },
    ]);
  });
  it("takes the full message name for the folder of the type [B-TYPE-1]", () => {
    expect(names(`a.com/${clusterType}/x.yaml`, "{}")).toEqual([`${prefix}x`]);
  });
  const shorts = [
    "listeners",
    "routes",
    "clusters",
    "endpoints",
    "secrets",
    "runtimes",
    "scoped-routes",
    "virtual-hosts",
    "extensions",
  ];
  for (const short of shorts) {
    it(`takes the short name ${short}`, () => {
      expect(names(`_opaque/${short}/x.yaml`, "{}")).toEqual(["x"]);
    });
  }
  it("takes a type that has no descriptor and leaves its fields alone", () => {
    expect(good("a.com/envoy.config.core.v3.Locality/x.yaml", "region: r")).toMatchObject([
      { name: "xdstp://a.com/envoy.config.core.v3.Locality/x", payload: { region: "r" } },
    ]);
  });
  it("takes a type whose payload has no name", () => {
    expect(good("a.com/envoy.config.endpoint.v3.LbEndpoint/x.yaml", "{}")).toMatchObject([
      { name: "xdstp://a.com/envoy.config.endpoint.v3.LbEndpoint/x" },
    ]);
  });
  it("takes a list collection under its own type", () => {
    expect(
      names("a.com/envoy.config.listener.v3.ListenerCollection/x.yaml", "entries: []"),
    ).toEqual(["xdstp://a.com/envoy.config.listener.v3.ListenerCollection/x"]);
  });
  it("reads sub-folders and escapes as parts of the id", () => {
    expect(names("a.com/clusters/ns/x.y.yaml", "{}")).toEqual([`${prefix}ns/x.y`]);
    expect(names("a.com/clusters/ns%2Fx%25.yaml", "{}")).toEqual([`${prefix}ns/x%25`]);
  });
  it("names it in canonical form: what the path of a URI may not hold is escaped [N-33]", () => {
    expect(names("a b/clusters/ü [1].yaml", "{}")).toEqual([
      `xdstp://a%20b/${clusterType}/%C3%BC%20%5B1%5D`,
    ]);
  });
  it("reads a legacy name below _opaque, with sub-folders and escapes [N-43]", () => {
    expect(good("_opaque/clusters/outbound|80||x/y%2Fz.yaml", "{}")).toMatchObject([
      { name: "outbound|80||x/y/z", payload: { name: "outbound|80||x/y/z" } },
    ]);
  });
  it("reads the authority _opaque where it is escaped", () => {
    expect(names("%5Fopaque/clusters/x.yaml", "{}")).toEqual([`xdstp://_opaque/${clusterType}/x`]);
  });
  it("accepts the right name in the payload", () => {
    expect(names("a.com/clusters/x.yaml", `name: ${prefix}x`)).toEqual([`${prefix}x`]);
  });
  it("accepts @type, with and without prefix", () => {
    expect(names("a.com/clusters/x.yaml", `"@type": ${clusterUrl}`)).toEqual([`${prefix}x`]);
    expect(names("a.com/clusters/x.yaml", `"@type": ${clusterType}`)).toEqual([`${prefix}x`]);
  });
  it("encodes equal content to equal bytes, whatever the order of keys, also in maps, structs and packed messages [S-VER-4]", () => {
    const type = "type.googleapis.com/google.protobuf.Struct";
    const one = read(
      "a/clusters/x.json",
      `{"metadata":{"filterMetadata":{"b":{"z":1,"y":{"q":1,"p":2}},"a":{}}},"typedExtensionProtocolOptions":{"k":{"@type":"${type}","value":{"m":1,"l":2}},"j":{"@type":"${type}","value":{}}}}`,
    );
    const two = read(
      "a/clusters/x.yaml",
      `typed_extension_protocol_options:\n  j: {"@type": ${type}, value: {}}\n  k: {value: {l: 2, m: 1}, "@type": ${type}}\nmetadata: {filter_metadata: {a: {}, b: {y: {p: 2, q: 1}, z: 1}}}\n`,
    );
    expect(one.problems).toEqual([]);
    expect(one.puts).toEqual(two.puts);
  });
});

describe("readFile() of names that are wrong", () => {
  it("rejects another name, and shows the right one with line and column", () => {
    expect(bad("a.com/clusters/x.yaml", "type: EDS\nname: y\n")).toMatchObject({
      file: "config/a.com/clusters/x.yaml",
      line: 2,
      column: 1,
      message: expect.stringContaining(`has to be "${prefix}x"`) as string,
    });
  });
  it("rejects the same name in another spelling, and shows the right one", () => {
    expect(bad("a.com/clusters/x%20y.yaml", `name: ${prefix}x y`)).toMatchObject({
      line: 1,
      message: expect.stringContaining(`has to be "${prefix}x%20y"`) as string,
    });
  });
  it("finds the name under its JSON spelling", () => {
    expect(bad("a.com/endpoints/x.json", '{"policy": {},\n "clusterName": "y"}')).toMatchObject({
      line: 2,
      column: 2,
      message: expect.stringContaining("the clusterName is") as string,
    });
  });
  it("rejects a bad escape [N-05]", () => {
    expect(bad("a.com/clusters/100%.yaml", "{}")).toMatchObject({
      rule: "N-05",
      message: expect.stringContaining('"%"') as string,
    });
  });
  it("rejects an id that is a glob [N-50]", () => {
    expect(bad("a.com/clusters/*.yaml", "{}")).toMatchObject({ rule: "N-50" });
    expect(bad("a.com/clusters/ns/%2A.yaml", "{}")).toMatchObject({ rule: "N-50" });
  });
  it("rejects the wildcard as a legacy name", () => {
    expect(bad("_opaque/clusters/*.yaml", "{}")).toMatchObject({
      message: expect.stringContaining("wildcard") as string,
    });
  });
  it("rejects an xdstp name below _opaque, and says where it belongs", () => {
    expect(bad("_opaque/clusters/xdstp%3A%2F%2Fa.yaml", "{}")).toMatchObject({
      hint: `move it to AUTHORITY/${clusterType}/`,
    });
  });
  it("rejects a type that is not known, names the folder, and guesses what was meant [B-TYPE-1]", () => {
    expect(bad("a.com/cluster/x.yaml", "{}")).toMatchObject({
      file: "config/a.com/cluster",
      hint: "did you mean clusters?",
    });
    expect(bad("a.com/acme.v1.Flag/x.yaml", "{}")).toMatchObject({
      hint: "for a type of your own, add its descriptors: --descriptors FILE",
    });
    expect(bad("a.com/zzz/x.yaml", "{}")).toMatchObject({
      hint: expect.stringContaining("listeners routes") as string,
    });
  });
  it("rejects a resource that lies beside the folders of types", () => {
    expect(bad("a.com/x.yaml", "{}")).toMatchObject({
      message: "a resource lies in AUTHORITY/TYPE/ID.yaml",
    });
  });
  it("rejects an @type other than that of the folder", () => {
    expect(
      bad(
        "a.com/clusters/x.yaml",
        'name: x\n"@type": type.googleapis.com/envoy.config.listener.v3.Listener',
      ),
    ).toMatchObject({
      line: 2,
      column: 1,
      message: expect.stringContaining(
        "this folder holds envoy.config.cluster.v3.Cluster",
      ) as string,
    });
  });
});

describe("readFile() of content that is wrong", () => {
  it("names line and column of an unknown field, and what was meant", () => {
    expect(bad("a/clusters/x.yaml", "type: EDS\nconect_timeout: 1s\n")).toMatchObject({
      line: 2,
      column: 1,
      message: expect.stringContaining('key "conect_timeout" is unknown') as string,
      hint: "did you mean connect_timeout?",
    });
  });
  it("names line and column of an unknown field deep in a packed message", () => {
    const text =
      'filter_chains:\n- filters:\n  - name: f\n    typed_config:\n      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy\n      stat_prefix: s\n      clusterr: c\n';
    expect(bad("a/listeners/x.yaml", text)).toMatchObject({
      line: 7,
      column: 7,
      hint: "did you mean cluster?",
    });
  });
  it("names line and column of a value of the wrong kind in JSON", () => {
    expect(bad("a/clusters/x.json", '{"type": "EDS",\n  "connectTimeout": 5}')).toMatchObject({
      line: 2,
      column: 3,
      message: expect.stringContaining("Duration") as string,
    });
  });
  it("names line and column of a packed type that is not known", () => {
    expect(
      bad("a/extensions/x.yaml", 'typed_config:\n  "@type": type.googleapis.com/nobody.Knows\n'),
    ).toMatchObject({
      line: 2,
      column: 3,
      message: expect.stringContaining("nobody.Knows") as string,
    });
  });
  it("rejects a field that is set in both spellings", () => {
    expect(bad("a/clusters/x.yaml", "connect_timeout: 1s\nconnectTimeout: 1s\n")).toMatchObject({
      message: expect.stringContaining("multiple times") as string,
    });
  });
  for (const [what, content] of [
    ["empty", ""],
    ["blank", "\n \n"],
    ["only comments", "# later\n"],
    ["null", "null"],
  ] as const) {
    it(`rejects a file that is ${what}`, () => {
      expect(bad("a/clusters/x.yaml", content)).toMatchObject({ message: "is empty" });
    });
  }
  it("rejects an empty binary file", () => {
    expect(bad("a/clusters/x.pb", "")).toMatchObject({ message: "is empty" });
  });
  it("rejects a list", () => {
    expect(bad("a/clusters/x.yaml", "- a\n")).toMatchObject({
      line: 1,
      message: "holds a list where a message is expected",
      hint: "write resources: above the list, or each resource into a file of its own, as xdstp import envoy FILE DIR does with the static resources of Envoy",
    });
  });
  it("says of an Envoy bootstrap where its parts belong", () => {
    for (const key of ["admin", "static_resources"])
      expect(bad("_opaque/clusters/x.yaml", `${key}: {}\n`)).toMatchObject({
        message: expect.stringContaining(`key "${key}" is unknown`) as string,
        hint: expect.stringContaining("xdstp import envoy FILE DIR") as string,
      });
  });
  it("shows of an unknown key no more than what may be a name", () => {
    expect(bad("a/clusters/x.yaml", "_apt:*:20228:0:99999:7::\n")).toMatchObject({
      message: 'envoy.config.cluster.v3.Cluster: key "_apt..." is unknown',
    });
    expect(bad("a/clusters/x.yaml", `${"k".repeat(70)}: 1\n`)).toMatchObject({
      message: `envoy.config.cluster.v3.Cluster: key "${"k".repeat(64)}..." is unknown`,
    });
  });
  it("rejects a file that is not UTF-8", () => {
    expect(bad("a/clusters/x.yaml", new Uint8Array([0x61, 0xff]))).toMatchObject({
      message: "is not UTF-8",
    });
  });
  it("reads a file with a byte order mark", () => {
    expect(names("a/clusters/x.json", "\uFEFF{}")).toHaveLength(1);
  });
  for (const [format, content] of [
    ["yaml", "a: ".repeat(3) + "[".repeat(20_000)],
    ["json", "[".repeat(200_000) + "]".repeat(200_000)],
    ["json", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
  ] as const) {
    it(`rejects ${content.length} characters of nesting in ${format}`, () => {
      expect(bad(`a/runtimes/x.${format}`, content)).toBeDefined();
    });
  }
  it("rejects aliases that make a small file enormous", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `k${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
    expect(bad("a/runtimes/x.yaml", `k0: &a0 [x]\n${lines.join("\n")}\n`)).toMatchObject({
      message: expect.stringContaining("aliases") as string,
    });
  });
});

describe("readFile() of a Resource", () => {
  const wrapper = (fields: string): string =>
    `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource\nresource:\n  "@type": ${clusterUrl}\n  connect_timeout: 1s\n${fields}`;
  const put = (path: string, content: string) => {
    const { puts, problems } = read(path, content);
    expect(problems).toEqual([]);
    return puts[0]?.resource;
  };
  it("takes context parameters from its name, which wins over the path, in canonical form [N-35]", () => {
    expect(good("a.com/clusters/x.yaml", wrapper(`name: ${prefix}other?b=2&a=1\n`))).toMatchObject([
      { name: `${prefix}other?a=1&b=2`, payload: { name: `${prefix}other?a=1&b=2` } },
    ]);
  });
  it("takes the path where it has no name", () => {
    expect(names("a.com/clusters/x.yaml", wrapper(""))).toEqual([`${prefix}x`]);
  });
  it("is known without @type by its field resource", () => {
    expect(names("a.com/clusters/x.yaml", `name: ${prefix}z\nresource: {type: EDS}\n`)).toEqual([
      `${prefix}z`,
    ]);
  });
  it("keeps version, TTL, aliases, metadata and cache control", () => {
    const text = wrapper(
      'name: n\nversion: "7"\nttl: 1.5s\naliases: [b, c]\ncache_control: {do_not_cache: true}\nmetadata: {filter_metadata: {k: {v: 1}}}\n',
    );
    expect(put("_opaque/clusters/x.yaml", text)).toMatchObject({
      name: "n",
      version: "7",
      ttlMs: 1_500,
      aliases: ["b", "c"],
      noStore: true,
      metadata: expect.any(Uint8Array) as Uint8Array,
    });
  });
  it("keeps constraints of a resource_name", () => {
    const text = wrapper(
      "resource_name:\n  name: n\n  dynamic_parameter_constraints: {constraint: {key: env, value: prod}}\n",
    );
    expect(put("_opaque/clusters/x.yaml", text)).toMatchObject({
      name: "n",
      constraints: expect.any(Uint8Array) as Uint8Array,
    });
  });
  const wrong: readonly (readonly [string, string, string])[] = [
    ["another authority", `name: xdstp://b.com/${clusterType}/x\n`, "does not belong"],
    [
      "another type",
      "name: xdstp://a.com/envoy.config.listener.v3.Listener/x\n",
      "does not belong",
    ],
    ["an opaque name", "name: x\n", "opaque name"],
    ["a name that does not parse", "name: xdstp://a.com/t/%zz\n", "percent"],
    ["a glob", `name: ${prefix}ns/*\n`, "glob"],
    ["a TTL of nothing", "ttl: 0s\n", "TTL"],
    ["a negative TTL", "ttl: -1s\n", "TTL"],
    ["an alias twice", "aliases: [b, b]\n", "twice"],
    ["an empty alias", 'aliases: [""]\n', "is not a name"],
    ["two names", `name: ${prefix}x\nresource_name: {name: ${prefix}x}\n`, "both"],
    ["an unknown field", "nme: x\n", "unknown"],
  ];
  for (const [what, fields, message] of wrong) {
    it(`rejects ${what}, with its line`, () => {
      expect(bad("a.com/clusters/x.yaml", wrapper(fields))).toMatchObject({
        line: fields.startsWith("name: ") && what === "two names" ? 6 : 5,
        message: expect.stringContaining(message) as string,
      });
    });
  }
  it("names the rule that a name breaks", () => {
    const text = wrapper("name: xdstp://a.com/t/%zz\n");
    expect(bad("a.com/clusters/x.yaml", text)).toMatchObject({ rule: "N-05" });
  });
  it("rejects an error in its payload, with its line", () => {
    expect(bad("a.com/clusters/x.yaml", "resource:\n  type: EDS\n  bogus: 1\n")).toMatchObject({
      line: 3,
      column: 3,
    });
  });
  it("rejects one without a payload", () => {
    expect(
      bad("a.com/clusters/x.yaml", '"@type": envoy.service.discovery.v3.Resource\nname: x\n'),
    ).toMatchObject({ message: "has no resource" });
  });
});

describe("readFile() of several resources", () => {
  it("names the documents of a YAML file by their payloads", () => {
    expect(
      names(
        "a.com/clusters/all.yaml",
        `---\nname: ${prefix}x\n---\nname: ${prefix}ns/y?k=v\n---\n`,
      ),
    ).toEqual([`${prefix}x`, `${prefix}ns/y?k=v`]);
  });
  it("names the members of a DiscoveryResponse by their payloads, with and without @type", () => {
    const text = `version_info: "1"\ntype_url: ${clusterUrl}\nresources:\n- "@type": ${clusterUrl}\n  name: b\n- name: c\n- "@type": envoy.service.discovery.v3.Resource\n  name: d\n  resource: {type: EDS}\n`;
    expect(names("_opaque/clusters/all.yaml", text)).toEqual(["b", "c", "d"]);
    expect(
      names(
        "_opaque/clusters/all.yaml",
        `"@type": type.googleapis.com/envoy.service.discovery.v3.DiscoveryResponse\n${text}`,
      ),
    ).toEqual(["b", "c", "d"]);
  });
  it("takes a DiscoveryResponse without resources as none", () => {
    expect(names("_opaque/clusters/all.json", '{"resources": []}')).toEqual([]);
  });
  it("names a document of a file by its wrapper", () => {
    expect(names("_opaque/clusters/all.yaml", "name: b\n---\nname: c\nresource: {}\n")).toEqual([
      "b",
      "c",
    ]);
  });
  it("names a single document among empty ones by the path", () => {
    expect(names("_opaque/clusters/x.yaml", "---\n---\ntype: EDS\n---\n")).toEqual(["x"]);
  });
  it("rejects a document without a name, and says where it goes", () => {
    const { puts, problems } = read(
      "_opaque/clusters/all.yaml",
      "name: b\n---\n# nothing\ntype: EDS\n---\nname: c\n",
    );
    expect(puts.map(({ resource }) => resource.name)).toEqual(["b", "c"]);
    expect(problems).toMatchObject([
      { line: 4, column: 1, hint: "write its name into the field name" },
    ]);
  });
  it("rejects a name of another authority or type, a spelling that is not canonical, and an opaque name outside of _opaque, each with its line", () => {
    const text = `name: xdstp://b/${clusterType}/x\n---\nname: xdstp://a.com/other/x\n---\nname: ${prefix}x?b=1&a=2\n---\nname: x\n`;
    const { problems } = read("a.com/clusters/all.yaml", text);
    expect(problems.map(({ line }) => line)).toEqual([1, 3, 5, 7]);
    expect(problems[2]?.message).toContain(`has to be "${prefix}x?a=2&b=1"`);
  });
  it("rejects a DiscoveryResponse of another type, and one with errors", () => {
    expect(
      bad("a/clusters/all.yaml", "resources: []\ntype_url: type.googleapis.com/x.Y\n"),
    ).toMatchObject({ line: 2 });
    expect(bad("a/clusters/all.yaml", "resources: []\nresource_errors: [{}]\n")).toMatchObject({
      line: 2,
    });
  });
  it("finds an error in the third document", () => {
    expect(
      read("_opaque/clusters/all.yaml", "name: a\n---\nname: b\n---\nname: c\nbogus: 1\n").problems,
    ).toMatchObject([{ line: 6, column: 1 }]);
  });
});

describe("readFile() of text format", () => {
  it("reads a message of the folder's type, and sorts its maps [S-VER-4]", () => {
    const entry = (key: string): string =>
      `filter_metadata { key: "${key}" value { fields { key: "z" value { number_value: 1 } } fields { key: "y" value { bool_value: true } } } }`;
    const text = `type: EDS metadata { ${entry("b")} ${entry("a")} }`;
    const yaml =
      "type: EDS\nmetadata: {filter_metadata: {a: {y: true, z: 1}, b: {y: true, z: 1}}}\n";
    expect(unplaced(read("a/clusters/x.txtpb", text))).toEqual(
      unplaced(read("a/clusters/x.yaml", yaml)),
    );
    expect(names("a/clusters/x.pb_text", text)).toHaveLength(1);
  });
  it("reads a wrapper that is named by the usual comment", () => {
    const text = `# proto-file: envoy/service/discovery/v3/discovery.proto\n# proto-message: envoy.service.discovery.v3.Resource\nname: "n"\nresource { [${clusterUrl}] { type: EDS } }\n`;
    expect(names("_opaque/clusters/x.txtpb", text)).toEqual(["n"]);
  });
  it("reads an expanded Any", () => {
    expect(names("a.com/clusters/x.txtpb", `# a comment\n[${clusterUrl}] { type: EDS }`)).toEqual([
      `${prefix}x`,
    ]);
  });
  it("rejects an unknown field by name, without a line", () => {
    const problem = bad("a/clusters/x.txtpb", "bogus: 1");
    expect(problem).toMatchObject({ message: expect.stringContaining("bogus") as string });
    expect(problem).not.toHaveProperty("line");
  });
  it("reads a text that is a locator", () => {
    const locator = `xdstp://b/${clusterType}/x`;
    expect(unplaced(read("a.com/clusters/x.txtpb", `# moved\n${locator}\n`))).toEqual(
      unplaced(read("a.com/clusters/x.json", JSON.stringify(locator))),
    );
  });
  for (const scheme of ["http", "file", "xdstp"])
    it(`does not take a first field ${scheme} for a locator`, () => {
      const { message } = bad("a/clusters/x.txtpb", `${scheme}: { name: "SECRET" }`) ?? {};
      expect(message).toContain("in text format");
      expect(message).not.toContain("SECRET");
    });
  it("rejects a type in the comment that is not known", () => {
    expect(bad("a/clusters/x.txtpb", "# proto-message: no.Such\n")).toMatchObject({
      rule: "B-TYPE-1",
    });
  });
});

describe("readFile() of binary", () => {
  it("reads a bare message of the folder's type, keeps its bytes and adds the name", () => {
    const bytes = cluster({ type: "EDS" });
    expect(good("a.com/clusters/x.pb", bytes)).toMatchObject([
      { name: `${prefix}x`, payload: { name: `${prefix}x` } },
    ]);
    const named = cluster({ name: `${prefix}x` });
    expect(read("a.com/clusters/x.pb", named).puts[0]?.resource.payload.value).toEqual(named);
  });
  it("reads an Any with a message of the folder's type", () => {
    expect(names("a.com/clusters/x.pb", toBinary(AnySchema, clusterAny({})))).toEqual([
      `${prefix}x`,
    ]);
  });
  it("reads an Any with a Resource", () => {
    const bytes = packed(
      ResourceSchema,
      create(ResourceSchema, { name: "n", ttl: { seconds: 5n }, resource: clusterAny({}) }),
    );
    expect(read("_opaque/clusters/x.pb", bytes).puts).toMatchObject([
      { resource: { name: "n", ttlMs: 5_000 } },
    ]);
  });
  it("reads an Any with a DiscoveryResponse", () => {
    const bytes = packed(
      DiscoveryResponseSchema,
      create(DiscoveryResponseSchema, {
        resources: [clusterAny({ name: "b" }), clusterAny({ name: "c" })],
      }),
    );
    expect(names("_opaque/clusters/x.pb", bytes)).toEqual(["b", "c"]);
  });
  it("rejects a wrong name", () => {
    expect(bad("a.com/clusters/x.pb", cluster({ name: "y" }))).toMatchObject({
      message: expect.stringContaining(`has to be "${prefix}x"`) as string,
    });
  });
  it("rejects another type in an Any", () => {
    const any = create(AnySchema, { typeUrl: "type.googleapis.com/x.Y", value: new Uint8Array() });
    expect(bad("a.com/clusters/x.pb", toBinary(AnySchema, any))).toMatchObject({
      message: expect.stringContaining("x.Y") as string,
    });
  });
  it("says of a file that is cut off that it is, bare or packed", () => {
    expect(bad("a.com/clusters/x.pb", new Uint8Array([0x22, 0x02, 0x08]))?.message).toBe(
      "is not a valid envoy.config.cluster.v3.Cluster in binary: it is cut off: it ends inside a field",
    );
    expect(
      bad("a.com/clusters/x.pb", toBinary(AnySchema, clusterAny({ name: "y" })).slice(0, -1))
        ?.message,
    ).toBe("is not a valid google.protobuf.Any in binary: it is cut off: it ends inside a field");
  });
  it("rejects what does not decode, and fields that are unknown", () => {
    expect(bad("a.com/clusters/x.pb", new Uint8Array([0x0a, 0xff]))).toMatchObject({
      message: expect.stringContaining(
        "is not a valid envoy.config.cluster.v3.Cluster in binary",
      ) as string,
    });
    expect(bad("a.com/clusters/x.pb", new Uint8Array([0xf8, 0xff, 0x03, 0x01]))).toMatchObject({
      message: expect.stringContaining("is unknown") as string,
    });
  });
});
