import { isLate, type XdsError } from "@xdstp/core";

/** A server has answered: that there is none, that it may not be seen, or with something that was rejected. */
const ANSWERS: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
]);

/** Whether an error of a name, or of a glob, says that no server that could answer is reachable (C-ALT-2). */
export function isOutOfReach(error: XdsError): boolean {
  return isLate(error) || !ANSWERS.has(error.code);
}
