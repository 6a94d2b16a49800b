import type { XdsError } from "@xdstp/core";

/** Whether two errors say the same: then nobody is told again (S-ERR-1). */
export function isSameError(first: XdsError | undefined, second: XdsError | undefined): boolean {
  return first?.code === second?.code && first?.text === second?.text;
}
