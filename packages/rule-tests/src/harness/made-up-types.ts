import type { ResourceType } from "@xdstp/core";

/** Each SotW response holds all of it, as with listeners and clusters. */
export const FULL = "type.googleapis.com/test.Full";
/** A SotW response holds what changed, as with endpoints and routes. */
export const PART = "type.googleapis.com/test.Part";
/** Two more of either kind, without relation to the others. */
export const OTHER_FULL = "type.googleapis.com/test.OtherFull";
export const OTHER_PART = "type.googleapis.com/test.OtherPart";

/** Types without any relation, so that nothing but the rule at hand is at work. An empty first list means `*` for all of them. */
export const madeUpTypes: readonly ResourceType[] = [
  { typeUrl: FULL, fullStateInSotw: true },
  { typeUrl: PART },
  { typeUrl: OTHER_FULL, fullStateInSotw: true },
  { typeUrl: OTHER_PART },
];
