import { matchesConstraints, type Interest } from "@xdstp/core";

import type { NameRecord, Owner } from "./name-record.ts";
import { readName } from "./read-name.ts";
import type { TypeStore } from "./type-store.ts";

/**
 * The existing names that an interest covers, of those that this owner put last; without an owner, of all.
 * Without an interest: all of the type. That is also what `*` means from those who push all they have, since `complete` is the only way to say so.
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

/** An interest with parameters covers the variants that match them; one without covers all. */
function isFor({ variant }: NameRecord, interest: Interest | undefined): boolean {
  return (
    variant === undefined ||
    interest?.parameters === undefined ||
    matchesConstraints(variant.constraints, interest.parameters)
  );
}
