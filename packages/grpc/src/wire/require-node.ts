import { XdsError } from "@xdstp/core";

const oldest = 22;

/**
 * Rejects a Node that is too old: there a server and a channel can be made, and every stream would end with INTERNAL.
 * Throws an XdsError with FAILED_PRECONDITION.
 * @param version - As in `process.versions.node`
 */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= oldest) return;
  throw new XdsError(
    "FAILED_PRECONDITION",
    `Node ${oldest} or newer is needed, and this is Node ${version}; install a newer Node`,
  );
}
