import type { JsonValue } from "@bufbuild/protobuf";

/** Whether objects and lists nest deeper than so many levels. It goes level by level, so that no depth overflows the stack. */
export function isDeeperThan(json: JsonValue, levels: number): boolean {
  let level: readonly JsonValue[] = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}
