/** The most levels of nesting in the metadata of a node. A server rejects a message that nests deeper than 100 levels, and each level of metadata takes three of them. */
export const maxMetadataDepth = 32;

/**
 * Returns whether objects and lists nest deeper than `levels`. `{ a: 1 }` has one level. No depth overflows the stack, since it checks level by level.
 * @param json - A parsed JSON value
 */
export function isDeeperThan(json: unknown, levels: number): boolean {
  let level: readonly unknown[] = [json];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null
        ? Object.values<unknown>(value as Readonly<Record<string, unknown>>)
        : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
