import { keysOfConstraints, matchesConstraints, readConstraints } from "@xdstp/core";
import type { Wanted } from "./wanted.ts";

/**
 * Returns those of the interests that a variant answers: their parameters match it (C-DYN-7), or
 * lack one of its keys, since the node may have further parameters. Constraints that cannot be read
 * are left to the sink, which rejects the resource.
 */
export function ofVariant(covering: readonly Wanted[], constraints: Uint8Array): readonly Wanted[] {
  const read = readConstraints(constraints);
  if (read.fault !== undefined) return covering;
  const keys = keysOfConstraints(read.constraints);
  return covering.filter(
    ({ interest: { parameters } }) =>
      parameters === undefined ||
      !keys.isSubsetOf(new Set(parameters.keys())) ||
      matchesConstraints(read.constraints, parameters),
  );
}
