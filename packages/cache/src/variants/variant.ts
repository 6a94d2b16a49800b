import { readConstraints, textOfConstraints, type Constraints } from "@xdstp/core";

import type { ReadName } from "../read-name.ts";

/** Constraints that no parameters match: those that cannot be read. */
const NOBODY: Constraints = { kind: "or", of: [] };

/** The name together with the constraints that it was put or removed with (S-DYN-2). Constraints of no bytes say nothing, as if there were none. */
export function variantOf(name: ReadName, constraints: Uint8Array | undefined): ReadName {
  if (constraints === undefined || constraints.length === 0) return name;
  const read = readConstraints(constraints);
  return {
    ...name,
    variant:
      read.fault === undefined
        ? { constraints: read.constraints, text: textOfConstraints(read.constraints) }
        : { constraints: NOBODY, text: "" },
  };
}

/** A map key for a name and its variant. That of a plain name is the key of the name. */
export function idOf({ key, variant }: Pick<ReadName, "key" | "variant">): string {
  return variant === undefined ? key : `${key}\n${variant.text}`;
}
