import type { Group, NameRecord } from "./name-record.ts";
import type { StateEntry } from "./state-entry.ts";

/** A name exists: it is listed in its group. Nearly every name is in the wildcard, which therefore has no list of its own. */
export function enlist(record: NameRecord): void {
  if (record.place >= 0) return;
  if (record.group === undefined) record.place = 0;
  else record.group.add(record);
}

/** A removal has left the window, or a name has been forgotten: who has not seen it up to this revision has lost it. */
export function unlist(record: NameRecord, wildcard: Group, revision: number): void {
  if (record.place < 0) return;
  record.group?.delete(record);
  record.place = -1;
  forGroups(record, wildcard, (group) => {
    group.drop(revision);
  });
}

/** A record has a new entry. */
export function noteIn(
  { group, inWildcard }: NameRecord,
  wildcard: Group,
  old: StateEntry | undefined,
  entry: StateEntry,
): void {
  group?.note(old, entry);
  if (inWildcard) wildcard.note(old, entry);
}

/** Calls back with the groups that a record is in. */
export function forGroups(
  { group, inWildcard }: NameRecord,
  wildcard: Group,
  visit: (group: Group) => void,
): void {
  if (group !== undefined) visit(group);
  if (inWildcard) visit(wildcard);
}
