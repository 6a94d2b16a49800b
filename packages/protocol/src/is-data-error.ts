import type { XdsError } from "@xdstp/core";

/**
 * Returns true if an error means that this client cannot have the resource, so that a copy of it
 * may be removed; any other error is transient (S-ERR-3). No error also means that the resource
 * does not exist.
 */
export function isDataError(error: Pick<XdsError, "code"> | undefined): boolean {
  return error === undefined || error.code === "NOT_FOUND" || error.code === "PERMISSION_DENIED";
}
