import type { Answer } from "./answer.ts";
import type { Inbox } from "./type-client.ts";

/** Sorts what comes on one stream by type. */
export function createInbox(read: () => readonly Answer[]): Inbox & { all(): readonly Answer[] } {
  let waiting: readonly Answer[] = [];
  const fill = (): void => {
    waiting = [...waiting, ...read()];
  };
  return {
    take(typeUrl) {
      fill();
      const first = waiting.find((answer) => answer.typeUrl === typeUrl);
      waiting = waiting.filter((answer) => answer !== first);
      return first;
    },
    all() {
      fill();
      const all = waiting;
      waiting = [];
      return all;
    },
  };
}
