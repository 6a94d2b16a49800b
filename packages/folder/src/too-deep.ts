import { Fault, type FaultDetails } from "./fault.ts";

/** Levels of lists and objects within each other; decoders of protobuf give up at the same depth. */
export const MAX_DEPTH = 100;

/** The fault of what nests deeper, at the place where it does. */
export function tooDeep(place: Pick<FaultDetails, "line" | "column" | "path">): Fault {
  return new Fault({
    message: `is nested more than ${MAX_DEPTH} levels deep`,
    hint: "decoders of protobuf go no deeper",
    ...place,
  });
}
