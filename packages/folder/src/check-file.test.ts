import { join } from "node:path";
import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { anyPack, AnySchema } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { checkFile } from "./check-file.ts";
import { formatProblem } from "./folder-problem.ts";

const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const cluster = { "@type": clusterUrl, name: "web", type: "STATIC", connect_timeout: "1s" };
const listener = {
  "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
  name: "web",
  api_listener: {},
};
const wrapper = "type.googleapis.com/envoy.service.discovery.v3.Resource";

async function check(path: string, content: string | Uint8Array) {
  const { dir } = await useFolder({ [path]: content });
  const { kind, resources, problems, warnings } = await checkFile({
    file: join(dir, path),
    registry: envoyRegistry(),
  });
  const text = (severity: string) => (problem: Parameters<typeof formatProblem>[0]) =>
    `${severity} ${problem.code}: ${formatProblem(problem).replaceAll(`${dir}/`, "")}`;
  return {
    kind,
    resources,
    found: [...problems.map(text("error")), ...warnings.map(text("warning"))],
  };
}

async function checkJson(json: JsonObject, path = "x.json") {
  return check(path, JSON.stringify(json));
}

const right = (resources: number) => ({ kind: "resources", resources, found: [] });

describe("checkFile()", () => {
  it.each<[string, JsonObject, number]>([
    ["one resource", cluster, 1],
    ["a resource without a name, which is that of the file", { ...cluster, name: "" }, 1],
    [
      "a resource with an xdstp name",
      { ...cluster, name: "xdstp://a/envoy.config.cluster.v3.Cluster/web" },
      1,
    ],
    ["a list of resources of several types", { resources: [cluster, listener] }, 2],
    ["a DiscoveryResponse", { version_info: "1", type_url: clusterUrl, resources: [cluster] }, 1],
    ["a Resource around one", { "@type": wrapper, name: "web", ttl: "1s", resource: cluster }, 1],
    ["a Resource without @type", { name: "web", resource: cluster }, 1],
    [
      "a list of Resources",
      { resources: [{ "@type": wrapper, name: "web", resource: cluster }] },
      1,
    ],
  ])("recognises %s", async (_, json, resources) => {
    expect(await checkJson(json)).toEqual(right(resources));
  });

  it.each(["x.json", "x.yaml"])("recognises an empty object in %s as a bootstrap", async (path) => {
    expect(await check(path, "{}")).toEqual({ kind: "bootstrap", resources: 0, found: [] });
  });

  it("recognises several documents of YAML, and shows the line of each problem", async () => {
    const text = `"@type": ${clusterUrl}
name: a
---
"@type": ${listener["@type"]}
name: b
adress: {}
---
resources:
- { "@type": ${clusterUrl}, name: c, connect_timeout: 0s }
`;
    expect(await check("x.yaml", text)).toEqual({
      kind: "resources",
      resources: 2,
      found: [
        'error unknown-field: x.yaml:6:1: envoy.config.listener.v3.Listener: key "adress" is unknown (did you mean address?)',
        "error constraint: x.yaml:9:76: connect_timeout must be more than 0s [duration.gt]",
      ],
    });
  });

  it.each<[string, string | Uint8Array]>([
    ["x.txtpb", '# proto-message: envoy.config.cluster.v3.Cluster\nname: "web" type: STATIC'],
    ["x.pb_text", `[${clusterUrl}] { name: "web" type: STATIC }`],
    ["x.pb", toBinary(AnySchema, anyFromJson(cluster, envoyRegistry()))],
    [
      "x.pb",
      toBinary(
        DiscoveryResponseSchema,
        create(DiscoveryResponseSchema, {
          typeUrl: clusterUrl,
          resources: [anyFromJson(cluster, envoyRegistry())],
        }),
      ),
    ],
    [
      "x.pb",
      toBinary(
        AnySchema,
        anyPack(
          DiscoveryResponseSchema,
          create(DiscoveryResponseSchema, { resources: [anyFromJson(cluster, envoyRegistry())] }),
        ),
      ),
    ],
  ])("reads a resource in the format of %s", async (path, content) => {
    expect(await check(path, content)).toEqual(right(1));
  });

  it("finds what is wrong in other formats, without a line", async () => {
    const bytes = toBinary(
      AnySchema,
      anyFromJson({ ...cluster, connect_timeout: "0s" }, envoyRegistry()),
    );
    expect((await check("x.pb", bytes)).found).toEqual([
      "error constraint: x.pb: connect_timeout must be more than 0s [duration.gt]",
    ]);
  });

  it.each<[string, string | Uint8Array]>([
    ["x.yaml", "node: { id: a }\n"],
    ["x.json", '{"staticResources":{}}'],
    ["x.pb_text", 'node { id: "a" }'],
    ["x.pb", fromHex("0a030a0161")],
  ])("recognises a bootstrap in %s", async (path, content) => {
    expect(await check(path, content)).toEqual({ kind: "bootstrap", resources: 0, found: [] });
  });

  it("reads a file of a folder as the folder does", async () => {
    const text = "name: other\ntype: STATIC\n";
    expect((await check("config/_opaque/clusters/web.yaml", text)).found).toEqual([
      'error wrong-name: config/_opaque/clusters/web.yaml:1:1: the name is "other", but has to be "web" (write it so, or leave it out) [N-42]',
    ]);
  });

  it.each([
    [
      "x.yaml",
      "a: 1\n",
      "error unrecognized-file: x.yaml:1:1: is neither a bootstrap nor a resource that says its type",
    ],
    [
      "x.yaml",
      "apiVersion: v1\nkind: ConfigMap\ndata: { envoy.yaml: '' }\n",
      "error unrecognized-file: x.yaml:1:1: is neither a bootstrap nor a resource that says its type (it is an object of Kubernetes;",
    ],
    ["x.yaml", "- 1\n", "error unrecognized-file: x.yaml:1:1: is neither"],
    ["x.yaml", "", "error empty-file: x.yaml: is empty"],
    ["x.yaml", "a: [\n", "error syntax: x.yaml:2:1: is not valid YAML"],
    ["x.json", "{", "error syntax: x.json:1:2: is not valid JSON"],
    [
      "x.toml",
      "a = 1",
      "error unrecognized-file: x.toml: is not read (the extensions that are read are",
    ],
    [
      "x.pb",
      fromHex("ffff"),
      "error syntax: x.pb: is not a valid envoy.config.bootstrap.v3.Bootstrap in binary",
    ],
    ["x.yaml", '"@type": a.B\n', 'error unknown-type: x.yaml:1:1: the type "a.B" is not known'],
    [
      "x.yaml",
      `resources: [5, { "@type": ${clusterUrl} }]\ntype_url: x\n`,
      "error not-a-message: x.yaml:1:13: a member of resources is a message",
    ],
    [
      "x.yaml",
      `resources: [{ "@type": ${clusterUrl} }, { "@type": ${clusterUrl}, name: a }]\n`,
      "error missing-name: x.yaml:1:13: has no name",
    ],
  ])("says what is wrong with %s: %j", async (path, content, text) => {
    const { found } = await check(path, content);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(text);
  });

  it("warns of a deprecated field", async () => {
    const text = `"@type": ${clusterUrl}\nname: web\nmax_requests_per_connection: 1\n`;
    expect((await check("x.yaml", text)).found).toEqual([
      "warning deprecated: x.yaml:3:1: max_requests_per_connection is deprecated since 3.0 (the API documentation names what replaces it)",
    ]);
  });

  it("warns of a deprecated value", async () => {
    const text = `"@type": type.googleapis.com/envoy.config.core.v3.ConfigSource
ads: {}
resource_api_version: V2
`;
    expect((await check("x.yaml", text)).found).toContain(
      "warning deprecated: x.yaml:3:1: resource_api_version: the value V2 is deprecated since 3.0 (the API documentation names what replaces it)",
    );
  });

  it("gives the problem of a file that cannot be read", async () => {
    const { problems } = await checkFile({ file: "/no/such.yaml", registry: envoyRegistry() });
    expect(problems.map(formatProblem)).toEqual(["/no/such.yaml: does not exist (ENOENT)"]);
  });
});

function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}
