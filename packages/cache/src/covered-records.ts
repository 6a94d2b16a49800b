import type { Interest } from "@xdstp/core";

import type { NameRecord, Owner } from "./name-record.ts";
import { readName } from "./read-name.ts";
import type { TypeStore } from "./type-store.ts";

/**
 * The existing names that an interest covers, of those that this owner put last; without an owner, of all.
 * Without an interest: all of the type. That is also what `*` means from those who push all they have, since `complete` is the only way to say so.
 */
export function coveredRecords(type: TypeStore, interest: Interest | undefined, owner: Owner | undefined): readonly NameRecord[] {
  const records = interest === undefined || (interest.name === "*" && owner?.onDemand !== true)
    ? type.records.values()
    : covered(type, interest.name);
  return [...records].filter((record) => record.entry?.resource !== undefined && (owner === undefined || record.owner === owner));
}

function covered(type: TypeStore, text: string): Iterable<NameRecord> {
  const { kind, key } = readName(text);
  if (text === "*" || kind === "glob") return type.group(key).records;
  const record = type.record(key);
  return record === undefined ? [] : [record];
}
