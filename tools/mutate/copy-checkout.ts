import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { WorkspacePackage } from "../lib/workspace.ts";

/**
 * Copies the checkout as it is, uncommitted files included, into a temporary folder, so that mutants are never in the working tree of a developer.
 * The installed packages are shared; the links between the workspace's packages lead into the copy, since they are relative. The caller removes it.
 */
export function copyCheckout(root: string, packages: readonly WorkspacePackage[]): string {
  const copy = mkdtempSync(join(tmpdir(), "xdstp-mutate-"));
  for (const file of filesOf(root)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction");
  for (const { folder } of packages) copyLinks(folder, join(copy, folder.slice(root.length)));
  return copy;
}

function filesOf(root: string): readonly string[] {
  const { stdout, status } = spawnSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error("git ls-files failed: run this in a checkout");
  return stdout.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}

function copyLinks(from: string, to: string): void {
  const links = join(from, "node_modules");
  if (!existsSync(links)) return;
  // Hidden folders are caches, and .bin holds scripts with paths of their own.
  cpSync(links, join(to, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !basename(source).startsWith("."),
  });
}
