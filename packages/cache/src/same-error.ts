import type { XdsError } from "@xdstp/core";

/** Whether two errors are the same to their receiver: then it is not notified again (S-ERR-1), whichever feed reported it. */
export function isSameError(first: XdsError | undefined, second: XdsError | undefined): boolean {
  return first?.code === second?.code && toldText(first) === toldText(second);
}

/** As a server tells it. */
function toldText(error: XdsError | undefined): string | undefined {
  return error?.context.said ?? error?.text;
}
