import { nameKey } from "@xdstp/uri";

import { newName, type WantedName } from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

const NONE: readonly never[] = [];

/** Creates an index of single names without parameters. It does not know aliases. */
export function createNameIndex(): WantedIndex {
  /** All names by key. Each is in an array of its own, so that `covering` does not allocate. */
  const all = new Map<string, readonly [WantedName]>();
  const ofName = (key: string): readonly WantedName[] => all.get(key) ?? NONE;
  return {
    get size() {
      return all.size;
    },
    *[Symbol.iterator]() {
      for (const [wanted] of all.values()) yield wanted;
    },
    add(interest) {
      const key = nameKey(interest.name);
      if (all.has(key)) return undefined;
      const wanted = {
        kind: "name",
        interest,
        key,
        id: key,
        realName: undefined,
        state: newName,
      } as const;
      all.set(key, [wanted]);
      return wanted;
    },
    remove(interest) {
      const key = nameKey(interest.name);
      const [wanted] = ofName(key);
      all.delete(key);
      return wanted;
    },
    ofName,
    covering: ofName,
    hasAliases: false,
    link: () => undefined,
    linkCached: () => undefined,
    unlink: () => undefined,
    takeOrphans: () => NONE,
  };
}
