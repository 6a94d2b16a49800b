import { readConstraints, textOfConstraints, type Constraints } from "@xdstp/core";

/** Which of the variants of a name (TP2). */
export interface FolderVariant {
  readonly constraints: Constraints;
  /** The constraints in words: equal for equal ones. */
  readonly text: string;
}

/** The variant that encoded constraints say; undefined: there are none, or they say nothing. */
export function variantOf(constraints: Uint8Array | undefined): FolderVariant | undefined {
  const read =
    constraints === undefined || constraints.length === 0
      ? undefined
      : readConstraints(constraints);
  return read === undefined || read.fault !== undefined
    ? undefined
    : { constraints: read.constraints, text: textOfConstraints(read.constraints) };
}

/** A map key for a resource: type, name and variant. */
export function keyOf({
  typeUrl,
  name,
  variant,
}: {
  readonly typeUrl: string;
  readonly name: string;
  readonly variant?: FolderVariant | undefined;
}): string {
  return variant === undefined ? `${typeUrl} ${name}` : `${typeUrl} ${name} ${variant.text}`;
}
