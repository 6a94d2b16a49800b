import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const src = import.meta.dirname;
const discovery = [
  "gen/envoy/config/core/v3/address_pb.ts",
  "gen/envoy/config/core/v3/base_pb.ts",
  "gen/envoy/service/discovery/v3/ads_pb.ts",
  "gen/envoy/service/discovery/v3/discovery_pb.ts",
  "gen/envoy/type/v3/semantic_version_pb.ts",
  "gen/google/rpc/status_pb.ts",
  "gen/xds/core/v3/context_params_pb.ts",
];

describe("the import graph", () => {
  it("of ./discovery has the discovery messages and the core messages that they name, and nothing else", () => {
    expect([...graphOf("discovery/index.ts").files].toSorted()).toEqual([
      "discovery/index.ts",
      ...discovery,
    ]);
  });

  it("of ./services adds to these the services alone", () => {
    const added = [...graphOf("services/index.ts").files].filter(
      (file) => !discovery.includes(file),
    );
    for (const file of added)
      expect(file).toMatch(/^services\/|^gen\/envoy\/service\/\w+\/v3\/\w+_pb\.ts$/);
  });

  it("of ./xds has no messages of Envoy's", () => {
    const envoys = [...graphOf("xds/index.ts").files].filter((file) =>
      file.startsWith("gen/envoy/"),
    );
    expect(envoys).toEqual([]);
  });

  it.each([
    "index.ts",
    "discovery/index.ts",
    "xds/index.ts",
    "services/index.ts",
    "status/index.ts",
  ])("of %s has neither the Envoy API nor anything but the protobuf library", (entry) => {
    const graph = graphOf(entry);
    expect([...graph.files].filter((file) => file.startsWith("envoy/"))).toEqual([]);
    for (const name of graph.packages) expect(name).toMatch(/^@bufbuild\/protobuf(\/|$)/);
  });

  it("of ./envoy has the image, so that the walk is seen to find it", () => {
    expect(graphOf("envoy/index.ts").files).toContain("envoy/gen/envoy-image.ts");
  });
});

interface Graph {
  readonly files: Set<string>;
  readonly packages: Set<string>;
}

/** What is loaded at run time: imports of types are left out, as the compiler leaves them out. */
function graphOf(entry: string): Graph {
  const graph: Graph = { files: new Set(), packages: new Set() };
  visit(join(src, entry), graph);
  return graph;
}

function visit(path: string, graph: Graph): void {
  if (graph.files.has(relative(src, path))) return;
  if (!existsSync(path)) throw new Error(`${path} is imported but missing`);
  graph.files.add(relative(src, path).replaceAll("\\", "/"));
  for (const specifier of importsOf(readFileSync(path, "utf8"))) {
    if (specifier.startsWith(".")) visit(join(path, "..", specifier), graph);
    else graph.packages.add(specifier);
  }
}

function importsOf(source: string): readonly string[] {
  const statements = source.matchAll(
    /^(?:import|export)\s+(?!type\b)[^;"]*?from\s+"([^"]+)"|^import\s+"([^"]+)"/gmu,
  );
  return [...statements].map((match) => match[1] ?? match[2] ?? "");
}
