import type { Defect } from "./defect.ts";

/** A relay that keeps subscriptions without subscribers for ever. */
export const lingerForEver: Defect = { lingerMs: 2 ** 40 };
