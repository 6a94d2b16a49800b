import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Returns the Markdown files of a checkout, as paths from its root, without changesets and ignored files. */
export function markdownFiles(root: string): readonly string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const { stdout, status, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
  return stdout
    .split("\n")
    .filter((path) => path !== "" && !path.startsWith(".changeset/"))
    .filter((path) => !path.endsWith(".api.md") && existsSync(join(root, path)))
    .sort();
}
