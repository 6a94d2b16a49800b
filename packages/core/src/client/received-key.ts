import { nameKey } from "@xdstp/uri";

/** Equal for names that are equal (N-40). Variants of a name are told apart by their constraints (TP2). */
export function receivedKey({ name, constraints }: { readonly name: string; readonly constraints?: Uint8Array }): string {
  return constraints === undefined ? nameKey(name) : `${nameKey(name)}\n${Buffer.from(constraints).toString("latin1")}`;
}
