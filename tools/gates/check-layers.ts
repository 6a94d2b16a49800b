import { relative } from "node:path";
import { type WorkspacePackage, readWorkspace } from "../lib/workspace.ts";

/**
 * The layers of docs/ARCHITECTURE.md, from the ground up. A package depends on packages of lower layers only, never on a sibling.
 * Next to a package: what it must not reach even though it is lower.
 */
export const layers: readonly Readonly<Record<string, readonly string[]>>[] = [
  { "@xdstp/uri": [], "@xdstp/protos": [] },
  { "@xdstp/core": ["@xdstp/protos"] },
  {
    "@xdstp/resource-types": [],
    "@xdstp/routes": ["@xdstp/core"],
    "@xdstp/validate": ["@xdstp/protos", "@xdstp/core"],
    "@xdstp/testing": [],
    "@xdstp/recording": [],
  },
  {
    "@xdstp/cache": ["@xdstp/protos"],
    "@xdstp/protocol": ["@xdstp/protos", "@xdstp/resource-types", "@xdstp/testing"],
    "@xdstp/grpc": ["@xdstp/resource-types"],
    "@xdstp/transport-rest": ["@xdstp/resource-types"],
    "@xdstp/schema": ["@xdstp/core"],
    "@xdstp/folder": [],
  },
  {
    "@xdstp/transport-delta": ["@xdstp/folder", "@xdstp/cache", "@xdstp/grpc"],
    "@xdstp/transport-sotw": ["@xdstp/folder", "@xdstp/cache", "@xdstp/grpc"],
    "@xdstp/transport-file": ["@xdstp/cache", "@xdstp/protocol", "@xdstp/grpc"],
    "@xdstp/transport-http": ["@xdstp/folder", "@xdstp/cache", "@xdstp/protocol", "@xdstp/grpc"],
    "@xdstp/bootstrap": ["@xdstp/cache", "@xdstp/protocol", "@xdstp/folder"],
    "@xdstp/openfeature": ["@xdstp/folder", "@xdstp/cache", "@xdstp/protocol"],
  },
  {
    "@xdstp/federation": ["@xdstp/cache", "@xdstp/folder", "@xdstp/grpc"],
    "@xdstp/policy": ["@xdstp/bootstrap", "@xdstp/cache", "@xdstp/folder", "@xdstp/grpc"],
    "@xdstp/snapshot": ["@xdstp/protos", "@xdstp/bootstrap", "@xdstp/folder", "@xdstp/grpc"],
    "@xdstp/rollout": ["@xdstp/bootstrap", "@xdstp/folder", "@xdstp/grpc"],
  },
  {
    "@xdstp/server": ["@xdstp/bootstrap", "@xdstp/cache", "@xdstp/folder", "@xdstp/federation"],
    "@xdstp/client": ["@xdstp/folder"],
    "@xdstp/relay": ["@xdstp/folder"],
    "@xdstp/lsp": ["@xdstp/bootstrap", "@xdstp/cache", "@xdstp/grpc", "@xdstp/protocol"],
    "@xdstp/web": ["@xdstp/bootstrap", "@xdstp/cache", "@xdstp/grpc"],
  },
  { "@xdstp/plan": ["@xdstp/folder"] },
  { "@xdstp/cli": [], xdstp: [] },
];

/** Returns the dependencies between public packages that the layers do not allow, a sentence for each. */
export function layerProblems(packages: readonly WorkspacePackage[]): readonly string[] {
  return packages
    .filter(({ isPublic }) => isPublic)
    .flatMap((from) => {
      const level = levelOf(from.name);
      if (level < 0)
        return [
          `${from.name} has no layer: give it one in tools/gates/check-layers.ts and in docs/ARCHITECTURE.md`,
        ];
      const forbidden = layers[level]?.[from.name] ?? [];
      return from.dependencies
        .filter((to) => levelOf(to) < 0 || levelOf(to) >= level || forbidden.includes(to))
        .map((to) => `${from.name} must not depend on ${to}`);
    });
}

function levelOf(name: string): number {
  return layers.findIndex((layer) => name in layer);
}

/** True when every arrow points down; else prints the ones that do not. */
export function checkLayers(root: string): boolean {
  const packages = readWorkspace(root);
  const problems = layerProblems(packages);
  for (const problem of problems) console.error(problem);
  if (problems.length === 0)
    console.log(
      `${String(packages.length)} packages, first ${relative(root, packages[0]?.folder ?? root)}: every arrow points down`,
    );
  return problems.length === 0;
}
