import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readWorkspace } from "../lib/workspace.ts";

/** The fields of a published package.json by which people find the project. */
export interface Manifest {
  readonly name: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly bugs?: string;
  readonly repository?: Repository;
  readonly license?: string;
}

/** The field `repository` of a package.json. */
export interface Repository {
  readonly type: string;
  readonly url: string;
  readonly directory?: string;
}

/**
 * Returns a line for each field of a published package.json that is missing or differs from what follows from the repository
 * of the root. npm accepts no provenance for a package whose repository is not the one that builds it.
 */
export function manifestProblems(
  manifest: Manifest,
  folder: string,
  repository: Repository,
): readonly string[] {
  const page = repository.url.replace(/^git\+|\.git$/g, "");
  const expected = {
    homepage: `${page}/tree/main/${folder}#readme`,
    bugs: `${page}/issues`,
    repository: { ...repository, directory: folder },
  };
  const differs = (["homepage", "bugs", "repository"] as const)
    .filter((field) => !isDeepStrictEqual(manifest[field], expected[field]))
    .map((field) => `"${field}" has to be ${JSON.stringify(expected[field])}`);
  const missing = (["description", "keywords", "license"] as const)
    .filter((field) => (manifest[field] ?? "").length === 0)
    .map((field) => `"${field}" is missing`);
  return [...differs, ...missing].map((line) => `${folder}/package.json: ${line}`);
}

/** True when each published package.json names the repository of the root, home page, tracker and keywords; else prints what is wrong. */
export function checkManifests(root: string): boolean {
  const { repository } = readManifest(root);
  if (repository === undefined) throw new Error("package.json of the root has no repository");
  const packages = readWorkspace(root).filter(({ isPublic }) => isPublic);
  const problems = packages.flatMap(({ folder }) =>
    manifestProblems(
      readManifest(folder),
      relative(root, folder).replaceAll("\\", "/"),
      repository,
    ),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length === 0)
    console.log(
      `${packages.length} published packages name their repository, home page, tracker and keywords`,
    );
  return problems.length === 0;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
