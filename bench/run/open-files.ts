import { execFileSync } from "node:child_process";

/** Files that a process needs next to its connections. */
const spare = 100;

/** The number of files that a process with this number of connections has to open. */
export function openFilesFor(connections: number): number {
  return connections + spare;
}

/** A command that runs with a soft limit of open files raised as far as the run needs. */
export function raisedCommand(command: readonly string[], openFiles: number): readonly string[] {
  if (process.platform === "win32") return command;
  return [
    "sh",
    "-c",
    'if [ "$(ulimit -Sn)" != unlimited ] && [ "$(ulimit -Sn)" -lt "$0" ]; then ulimit -Sn "$0"; fi; exec "$@"',
    String(openFiles),
    ...command,
  ];
}

/** Why a run with so many open files cannot be made here, and the way out; undefined: it can. */
export function openFilesProblem(
  openFiles: number,
  hardLimit: number = readHardLimit(),
): string | undefined {
  if (openFiles <= hardLimit) return undefined;
  return (
    `not run: needs ${openFiles} open files, the hard limit of this process is ${hardLimit} (ulimit -Hn). ` +
    `Raise it: "* hard nofile ${openFiles}" in /etc/security/limits.conf, LimitNOFILE=${openFiles} in a systemd unit, or docker run --ulimit nofile=${openFiles}:${openFiles}`
  );
}

/** The limit for each process of this user. */
function readHardLimit(): number {
  if (process.platform === "win32") return Number.POSITIVE_INFINITY;
  const text = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  return text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
}
