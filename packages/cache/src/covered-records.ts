import { matchesConstraints, type Interest } from "@xdstp/core";

import type { NameRecord, Owner } from "./name-record.ts";
import { readName } from "./read-name.ts";
import type { TypeStore } from "./type-store.ts";

/**
 * Returns the records that an interest covers and that have a resource; with an owner, only those
 * that it put last.
 * Without an interest: all of the type. `*` means the same for a feed that pushes everything that
 * it has, since that feed has no other way to declare the whole type complete.
 */
export function coveredRecords(
  type: TypeStore,
  interest: Interest | undefined,
  owner: Owner | undefined,
): readonly NameRecord[] {
  const records =
    interest === undefined || (interest.name === "*" && owner?.onDemand !== true)
      ? type.all()
      : covered(type, interest);
  return [...records].filter(
    (record) =>
      record.entry?.resource !== undefined &&
      (owner === undefined || record.owner === owner) &&
      isFor(record, interest),
  );
}

function covered(type: TypeStore, { name: text }: Interest): Iterable<NameRecord> {
  const { kind, key } = readName(text);
  return text === "*" || kind === "glob" ? type.recordsIn(type.group(key)) : type.recordsOf(key);
}

/**
 * Returns true if an interest covers a record. With parameters it covers the variants that match
 * them, without parameters all.
 */
function isFor({ variant }: NameRecord, interest: Interest | undefined): boolean {
  return (
    variant === undefined ||
    interest?.parameters === undefined ||
    matchesConstraints(variant.constraints, interest.parameters)
  );
}
