import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The lines of a lockfile that pin a package to a host. With integrity hashes alone, the install works with any registry. */
export function hostsIn(lockfile: string): readonly string[] {
  return lockfile
    .split("\n")
    .filter((line) => /(?:https?|git|ssh):\/\//.test(line) || /\btarball:/.test(line))
    .map((line) => line.trim());
}

/** The packages of a lockfile that have no integrity hash. */
export function withoutIntegrity(lockfile: string): readonly string[] {
  return [...lockfile.matchAll(/^ {2}(\S.*):\n {4}resolution: \{(?!integrity: sha512-)/gm)].map(
    (match) => match[1] ?? "",
  );
}

/** True when the lockfile names no host and every package has its hash; else prints what is wrong. */
export function checkLockfile(root: string): boolean {
  const lockfile = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
  const problems = [
    ...hostsIn(lockfile).map((line) => `pnpm-lock.yaml names a host: ${line}`),
    ...withoutIntegrity(lockfile).map((name) => `${name} has no integrity hash in pnpm-lock.yaml`),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length === 0)
    console.log("pnpm-lock.yaml names no host; every package has its hash");
  return problems.length === 0;
}
