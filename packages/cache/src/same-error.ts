import type { XdsError } from "@xdstp/core";

/** Whether two errors say the same to who is told of them: then nobody is told again (S-ERR-1), whoever has said it. */
export function isSameError(first: XdsError | undefined, second: XdsError | undefined): boolean {
  return first?.code === second?.code && toldText(first) === toldText(second);
}

/** As a server tells it. */
function toldText(error: XdsError | undefined): string | undefined {
  return error?.context.said ?? error?.text;
}
