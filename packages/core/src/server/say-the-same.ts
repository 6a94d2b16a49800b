import type { Entry } from "../resource.ts";
import { entryKey } from "./entry-key.ts";

/** Whether these entries tell a client the same as those, in whatever order. Looked at only after a refusal. */
export function sayTheSame(a: readonly Entry[], b: readonly Entry[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  const said = new Map(a.map((entry) => [keyOf(entry), entry]));
  return b.every((entry) => isSame(said.get(keyOf(entry)), entry));
}

function keyOf(entry: Entry): string {
  return entryKey(entry, entry.name);
}

/** The encoded form has all in it that is said of a resource; what is wrong with one is said beside it. */
function isSame(a: Entry | undefined, b: Entry): boolean {
  if (a === undefined || a === b) return a !== undefined;
  if (a.error?.code !== b.error?.code || a.error?.message !== b.error?.message) return false;
  if (a.resource === undefined || b.resource === undefined) return a.resource === b.resource;
  return Buffer.compare(a.resource.wire, b.resource.wire) === 0;
}
