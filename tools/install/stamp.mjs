import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A hash over all that decides what an install gives: lockfile, settings, every package.json, the platform. */
export function inputsOf(root) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const file of filesOf(root)) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

function filesOf(root) {
  const folders = [
    "bench",
    "tools",
    ...["packages", "examples"].flatMap((parent) => foldersOf(root, parent)),
  ];
  const files = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".npmrc",
    ...folders.map((folder) => `${folder}/package.json`),
  ];
  return files.filter((file) => existsSync(join(root, file)));
}

function foldersOf(root, parent) {
  if (!existsSync(join(root, parent))) return [];
  return readdirSync(join(root, parent))
    .sort()
    .map((name) => `${parent}/${name}`);
}
