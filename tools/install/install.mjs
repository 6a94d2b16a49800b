import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { inputsOf } from "./stamp.mjs";

/**
 * Installs the workspace's packages unless the last install had the same inputs. Nothing is written to stdout.
 * Two callers at once: the second waits for the first. Throws with the way out when the install fails.
 */
export function ensureInstalled(root) {
  if (isCurrent(root)) return;
  withLock(root, () => {
    if (isCurrent(root)) return;
    console.error("Installing the workspace's packages (only when they have changed) ...");
    install(root);
    writeFileSync(stampFile(root), inputsOf(root));
  });
}

function stampFile(root) {
  return join(root, "node_modules", ".xdstp-install");
}

function isCurrent(root) {
  const file = stampFile(root);
  return existsSync(file) && readFileSync(file, "utf8") === inputsOf(root);
}

function install(root) {
  // Warnings would be about the Node of the machine, which nothing but the install itself runs on.
  const [command, ...args] = [
    ...pnpm(root),
    "install",
    "--frozen-lockfile",
    "--loglevel=error",
    "--config.confirmModulesPurge=false",
  ];
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  throw new Error(
    `The install failed (${error?.message ?? `exit ${status}`}). If a package.json was changed on purpose, renew the lockfile: npx -y ${wantedPnpm(root)} install`,
  );
}

/** The pnpm that was installed last time, if it is the one of `packageManager`; else npx fetches it. */
function pnpm(root) {
  const wanted = wantedPnpm(root);
  const own = join(root, "node_modules", "pnpm");
  if (
    existsSync(join(own, "package.json")) &&
    wanted === `pnpm@${readJson(join(own, "package.json")).version}`
  ) {
    return [process.execPath, join(own, "bin", "pnpm.cjs")];
  }
  return ["npx", "-y", wanted];
}

function wantedPnpm(root) {
  return readJson(join(root, "package.json")).packageManager;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
