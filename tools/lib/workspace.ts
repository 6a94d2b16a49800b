import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A folder of the workspace with a package.json, as far as the tools need it. */
export interface WorkspacePackage {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly isPublic: boolean;
  readonly scripts: readonly string[];
  /** Names of the workspace packages it depends on at run time. */
  readonly dependencies: readonly string[];
  /** The module names that other packages can import, such as `@xdstp/core` and `@xdstp/core/wire`. */
  readonly entries: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
}

/** Every package of the workspace, by folder name. */
export function readWorkspace(root: string): readonly WorkspacePackage[] {
  const folders = ["packages", "examples"].flatMap((parent) => childrenOf(join(root, parent)));
  return [...folders, join(root, "bench"), join(root, "tools")]
    .filter((folder) => existsSync(join(folder, "package.json")))
    .map(readPackage);
}

function childrenOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

function readPackage(folder: string): WorkspacePackage {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const local = Object.entries(manifest.dependencies ?? {}).filter(([, range]) =>
    range.startsWith("workspace:"),
  );
  const entries = Object.keys(manifest.exports ?? {}).filter((path) => path !== "./package.json");
  return {
    name: manifest.name,
    folder,
    isPublic: manifest.private !== true,
    scripts: Object.keys(manifest.scripts ?? {}),
    dependencies: local.map(([name]) => name),
    entries: entries.map((path) => manifest.name + path.slice(1)),
  };
}
