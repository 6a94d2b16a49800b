import type { Defect } from "./defect.ts";

/** A relay that asks on for what nobody wants any more. */
export const lingerForEver: Defect = { lingerMs: 2 ** 40 };
