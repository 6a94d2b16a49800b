import { nameKey } from "@xdstp/uri";

/** Equal for names that are equal (N-40). Variants of a name are told apart by their constraints (TP2). */
export function receivedKey({
  name,
  key = nameKey(name),
  constraints,
}: {
  readonly name: string;
  readonly key?: string;
  readonly constraints?: Uint8Array;
}): string {
  return constraints === undefined ? key : `${key}\n${Buffer.from(constraints).toString("latin1")}`;
}
