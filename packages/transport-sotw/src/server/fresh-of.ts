import type { Entry } from "@xdstp/core";
import { pairMemo } from "./pair-memo.ts";

/** What of a full state the client does not hold as it is: only that warms (S-WARM-1). */
export const freshOf: (entries: readonly Entry[], held: readonly Entry[]) => readonly Entry[] =
  pairMemo((entries, held) => {
    const before = new Set(held);
    return entries.filter((entry) => !before.has(entry));
  });
