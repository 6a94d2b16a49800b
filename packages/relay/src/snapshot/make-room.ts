import { overlapOf, type Transaction } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Noting } from "./note-transaction.ts";
import { readVariant, type Variant } from "./record.ts";

/** A variant from the snapshot goes before one comes that is for some of the same clients: they never stand side by side (S-DYN-4). */
export function makeRoom({ store, space, remove }: Noting, { put = [] }: Transaction): void {
  const gone = put.flatMap(({ typeUrl, resource, as = resource.name }) => {
    const restored = store.index
      .shelf(space, typeUrl)
      .of(nameKey(as))
      .filter((record) => record.restored && !record.said && record.key === nameKey(as));
    if (restored.length === 0) return [];
    const variant = readVariant(resource.constraints);
    return restored.filter(
      (record) => record.variant?.text !== variant?.text && overlap(record.variant, variant),
    );
  });
  if (gone.length > 0) remove(gone);
}

/** What has no constraints is for everyone. */
export function overlap(one: Variant | undefined, other: Variant | undefined): boolean {
  return (
    one === undefined ||
    other === undefined ||
    overlapOf(one.constraints, other.constraints) !== "none"
  );
}
