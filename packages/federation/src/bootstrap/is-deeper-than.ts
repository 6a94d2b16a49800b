import type { JsonValue } from "./bootstrap.ts";

/** Levels of a bootstrap and of the metadata of a node. A server refuses messages that nest deeper than 100, and each level of metadata takes three. */
export const MAX_DEPTH = 32;

/** Whether objects and lists nest deeper than so many levels. It goes level by level, so that no depth overflows the stack. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values<JsonValue>(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}
