import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { runProgram } from "../lib/run-program.ts";
import { type WorkspacePackage, readWorkspace } from "../lib/workspace.ts";

/** True when the changesets are well formed and each public package that changed since the last version bump is named in one; else says which are not. */
export async function checkChangesets(root: string): Promise<boolean> {
  const since = lastRelease(root);
  const changed = git(root, ["diff", "--name-only", since, "HEAD"]);
  const missing = withoutChangeset(root, readWorkspace(root), changed, readChangesets(root));
  for (const name of missing)
    console.error(`${name} has changed without a changeset: run npx changeset`);
  // `changeset status` asks for one changeset at least, whatever it names; it is run for its check of their form.
  return (
    (await runProgram("changeset", ["status", `--since=${since}`])) === 0 && missing.length === 0
  );
}

/** The public packages of which a source or the package.json is among the changed files, and that no changeset names. */
export function withoutChangeset(
  root: string,
  packages: readonly WorkspacePackage[],
  changed: readonly string[],
  changesets: readonly string[],
): readonly string[] {
  const named = new Set(
    changesets.flatMap((text) =>
      [...text.matchAll(/^"([^"]+)": (?:major|minor|patch|none)$/gm)].map((match) => match[1]),
    ),
  );
  return packages
    .filter(({ isPublic, name, folder }) => {
      const place = relative(root, folder).replaceAll("\\", "/");
      return isPublic && !named.has(name) && changed.some((file) => isPublished(place, file));
    })
    .map(({ name }) => name);
}

function isPublished(folder: string, file: string): boolean {
  if (file === `${folder}/package.json`) return true;
  return file.startsWith(`${folder}/src/`) && !/\.test(?:-d)?\.ts$/.test(file);
}

function readChangesets(root: string): readonly string[] {
  const folder = join(root, ".changeset");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** The last commit that changed a changelog, which only a version bump does: a new package adds one. Before the first bump, the first commit. */
function lastRelease(root: string): string {
  return (
    git(root, [
      "log",
      "-1",
      "--diff-filter=M",
      "--format=%H",
      "--",
      "packages/*/CHANGELOG.md",
    ])[0] ??
    git(root, ["rev-list", "--max-parents=0", "HEAD"]).at(-1) ??
    "HEAD"
  );
}

function git(root: string, args: readonly string[]): readonly string[] {
  const { stdout, status, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}
