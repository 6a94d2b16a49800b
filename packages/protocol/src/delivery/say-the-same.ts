import type { Entry } from "@xdstp/core";
import { equalBytes } from "@xdstp/core/wire";
import { entryKey } from "./entries.ts";
import type { FrameProfile } from "./frame-cache.ts";

const NOTHING = new Uint8Array();

/**
 * Returns true if a client of a profile is sent the same bytes for both arrays of entries, in any
 * order. Called only after a rejection.
 */
export function sayTheSame(
  a: readonly Entry[],
  b: readonly Entry[],
  { said }: Pick<FrameProfile, "said">,
): boolean {
  if (a === b) return true;
  const [before, now] = [byKey(a), byKey(b)];
  const saidOf = (entry: Entry | undefined): Uint8Array =>
    entry === undefined ? NOTHING : said(entry);
  const isSame = (key: string): boolean =>
    before.get(key) === now.get(key) || equalBytes(saidOf(before.get(key)), saidOf(now.get(key)));
  return new Set([...before.keys(), ...now.keys()]).values().every(isSame);
}

function byKey(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(entries.map((entry) => [entryKey(entry, entry.name), entry]));
}
