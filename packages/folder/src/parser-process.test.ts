import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create, createRegistry, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { folderContext, type FolderOptions } from "./folder-context.ts";
import { createFolderReader } from "./folder-reader.ts";
import { type ParserProcess, startParserProcess } from "./parser-process.ts";
import { readFile } from "./read-file.ts";

const endpoint = (at: number): string =>
  `{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: ${at % 60_000}}}}}`;
const endpoints = (count: number): string =>
  `endpoints:\n- lb_endpoints:\n${Array.from({ length: count }, (_, at) => `  - ${endpoint(at)}\n`).join("")}`;
const documents = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) =>
      `name: xdstp://a/envoy.config.cluster.v3.Cluster/c${at}\ntype: EDS\nconnect_timeout: 1s\n`,
  ).join("---\n");

/** Returns the content of a file, parsed in this process and in another one. */
const both = async (
  path: string,
  content: string | Uint8Array,
  options: Partial<FolderOptions> = {},
) => {
  const { dir } = await useFolder({ [path]: content });
  const context = folderContext({ dir, registry: envoyRegistry(), ...options });
  const segments = path.split("/");
  const { parse, close } = await startParserProcess(context);
  onTestFinished(close);
  const { hash, ...elsewhere } = await parse(segments);
  expect(hash).not.toBe("");
  return { elsewhere, here: readFile(segments, Buffer.from(content), context) };
};

describe("startParserProcess(), once for several files", () => {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-parser-"));
  const context = folderContext({ dir, registry: envoyRegistry() });
  let parser: ParserProcess | undefined;

  beforeAll(async () => {
    parser = await startParserProcess(context);
  });

  afterAll(() => {
    parser?.close();
    rmSync(dir, { recursive: true });
  });

  it.each([
    ["one YAML resource", "a/endpoints/x.yaml", endpoints(5_000)],
    ["many YAML documents", "a/clusters/x.yaml", documents(2_000)],
    [
      "JSON",
      "a/clusters/x.json",
      JSON.stringify({
        name: "xdstp://a/envoy.config.cluster.v3.Cluster/x",
        altStatName: "y".repeat(300_000),
      }),
    ],
    ["text", "a/clusters/x.txtpb", `alt_stat_name: "${"y".repeat(300_000)}"`],
    [
      "binary",
      "a/clusters/x.pb",
      toBinary(ClusterSchema, create(ClusterSchema, { altStatName: "y".repeat(300_000) })),
    ],
    [
      "what a wrapper says",
      "a/clusters/x.yaml",
      "ttl: 5s\nresource_name: {name: xdstp://a/envoy.config.cluster.v3.Cluster/x, dynamic_parameter_constraints: {constraint: {key: env, value: prod}}}\nresource: {type: EDS}",
    ],
    ["problems with their places", "a/clusters/x.yaml", "type: EDS\nbogus: 1\n"],
    [
      "references to other authorities",
      "a/clusters/x.yaml",
      "cluster_type: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: ['xdstp://b/envoy.config.cluster.v3.Cluster/x']}}",
    ],
  ])("gives the same as in place: %s", async (_, path, content) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
    const segments = path.split("/");
    const elsewhere = await parser?.parse(segments);
    expect(elsewhere?.hash).not.toBe("");
    expect(elsewhere).toEqual({
      ...readFile(segments, Buffer.from(content), context),
      hash: elsewhere?.hash,
    });
  });
});

describe("startParserProcess()", () => {
  it("takes the registry and the types of the caller along", async () => {
    const { elsewhere, here } = await both("a/envoy.config.cluster.v3.Cluster/x.yaml", "bogus: 1", {
      registry: createRegistry(ClusterSchema),
      types: [{ typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster", nameField: 0 }],
    });
    expect(elsewhere).toEqual(here);
    const unknown = await both("a/envoy.config.listener.v3.Listener/x.yaml", "{}", {
      registry: createRegistry(ClusterSchema),
    });
    expect(unknown.elsewhere).toEqual(unknown.here);
  });
  it.each([
    ["yaml", 100_000],
    ["json", 300_000],
  ])(
    "finds a %s file broken that needs more memory than it may have, and goes on",
    async (extension, length) => {
      const { dir } = await useFolder({
        [`a/endpoints/x.${extension}`]: `{"endpoints":[{"lb_endpoints":[${Array.from({ length }, () => '{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":80}}}}').join(",")}]}]}`,
      });
      const { parse, close } = await startParserProcess(
        folderContext({ dir, registry: envoyRegistry() }),
        100,
      );
      onTestFinished(close);
      const file = join(dir, `a/endpoints/x.${extension}`);
      expect(await parse(["a", "endpoints", `x.${extension}`])).toEqual({
        hash: "",
        puts: [],
        warnings: [],
        references: [],
        problems: [
          {
            file,
            code: "too-large",
            message: "needs more than 100 MB to read",
            hint: "split it into one file for each resource, or make the resource smaller",
          },
        ],
      });
    },
  );
});

describe("createFolderReader() with large files", () => {
  it("reads them in another process, and again only where they have changed", async () => {
    const { dir } = await useFolder({
      "_opaque/endpoints/x.yaml": endpoints(10_000),
      "a/clusters/y.yaml": "{}",
    });
    mkdirSync(join(dir, "b/clusters"), { recursive: true });
    writeFileSync(join(dir, "b/clusters/x.yaml"), documents(10_000).replaceAll("//a/", "//b/"));
    const reader = createFolderReader(folderContext({ dir, registry: envoyRegistry() }));
    const first = await reader.read();
    expect({
      entries: first.entries.length,
      edits: first.edits,
      problems: first.problems,
    }).toEqual({ entries: 10_002, edits: 3, problems: [] });
    expect((await reader.read()).edits).toBe(0);
  });
});
