import type { Transaction } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Noting } from "./note-transaction.ts";
import { overlap, readVariant } from "./record.ts";

/** Removes restored variants before upstream puts one that is for some of the same clients: both must not exist at once (S-DYN-4). */
export function makeRoom({ store, space, remove }: Noting, { put = [] }: Transaction): void {
  const replaced = put.flatMap(({ typeUrl, resource, as = resource.name }) => {
    const restored = store.index
      .typeIndex(space, typeUrl)
      .of(nameKey(as))
      .filter((record) => record.restored && !record.answered && record.key === nameKey(as));
    if (restored.length === 0) return [];
    const variant = readVariant(resource.constraints);
    return restored.filter(
      (record) => record.variant?.text !== variant?.text && overlap(record.variant, variant),
    );
  });
  if (replaced.length > 0) remove(replaced);
}
