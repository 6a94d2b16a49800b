import type { XdsError } from "@xdstp/core";

/** Whether an error says that the resource is not there for this client, so that a copy of it may go; any other is transient (S-ERR-3). No error: it does not exist. */
export function isDataError(error: Pick<XdsError, "code"> | undefined): boolean {
  return error === undefined || error.code === "NOT_FOUND" || error.code === "PERMISSION_DENIED";
}
