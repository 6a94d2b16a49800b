import { XdsError } from "@xdstp/core";

/**
 * The first release of each line with the security fixes of November 2026, newest line first. Other
 * lines have ended.
 * They are the newest of all versions that the table of known vulnerabilities requires, so one
 * comparison covers its rows.
 */
const fixed = [
  [26, 13, 1],
  [24, 22, 3],
  [22, 23, 5],
] as const;

/**
 * Returns one line for display if this version of Node has known vulnerabilities in HTTP/2, as
 * client or server, or `undefined`. Show it once, at the start, and continue.
 * @param version - As in `process.versions.node`
 */
export function nodeWarning(version: string): string | undefined {
  const own = version.split(".").map((part) => Number.parseInt(part, 10));
  if (fixed[0][0] < (own[0] ?? 0)) return undefined;
  const line = fixed.find(([major]) => major === own[0]);
  if (line !== undefined && !isBelow(own, line)) return undefined;
  const names = fixed.map((parts) => parts.join(".")).reverse();
  return `Node ${version} lacks security fixes for HTTP/2; run this on Node ${names.slice(0, -1).join(", ")} or ${names.at(-1) ?? ""}, or newer`;
}

function isBelow(own: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((part, index) => part !== own[index]);
  return at !== -1 && (own[at] ?? 0) < (other[at] ?? 0);
}

const oldest = 22;

/**
 * Throws an XdsError with FAILED_PRECONDITION if Node is too old: a server and a channel could be
 * created, but every stream would end with INTERNAL.
 * @param version - As in `process.versions.node`
 */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= oldest) return;
  throw new XdsError(
    "FAILED_PRECONDITION",
    `Node ${oldest} or newer is needed, and this is Node ${version}; install a newer Node`,
  );
}
