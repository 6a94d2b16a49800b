import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readWorkspace } from "../lib/workspace.ts";

/** A file with its text. */
export interface TextFile {
  /** Relative to the root of the checkout. */
  readonly path: string;
  readonly text: string;
}

/** Reads the sources of the published packages, without tests and generated code. */
export function readSources(root: string): readonly TextFile[] {
  const folders = readWorkspace(root).filter(({ isPublic }) => isPublic);
  return folders
    .flatMap(({ folder }) => filesUnder(join(folder, "src")))
    .filter((path) => path.endsWith(".ts") && !/\.(?:test|test-d)\.ts$/.test(path))
    .filter((path) => !/[/\\]gen[/\\]/.test(path))
    .map((path) => read(root, path));
}

/** Reads the documents of the root, the packages and `docs`, and the changesets. API reports are generated, so they are left out. */
export function readDocuments(root: string): readonly TextFile[] {
  const packages = readWorkspace(root).map(({ folder }) => folder);
  const own = [root, ...packages].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  return [...own, ...filesUnder(join(root, "docs")), ...filesUnder(join(root, ".changeset"))]
    .filter((path) => path.endsWith(".md") && !path.endsWith(".api.md"))
    .map((path) => read(root, path));
}

function read(root: string, path: string): TextFile {
  return { path: relative(root, path), text: readFileSync(path, "utf8") };
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
