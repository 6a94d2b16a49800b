import { isLongerThan } from "./is-longer-than.ts";
import type { StreamLimits } from "../stream/limits.ts";

/** Why one of these names is more than a name may be, and by which limit; undefined: none is (S-LIM-4). */
export function excessOfNames(
  names: readonly string[],
  { nameLength, parameters }: StreamLimits,
): readonly [message: string, limit: "nameLength" | "parameters"] | undefined {
  for (const name of names) {
    if (isLongerThan(name, nameLength))
      return [`a name is longer than ${nameLength} bytes`, "nameLength"];
    if (parametersIn(name) > parameters)
      return [`a name has more than ${parameters} context parameters`, "parameters"];
  }
  return undefined;
}

/** Counts without parsing: names come by the ten thousand, and few have any. */
function parametersIn(name: string): number {
  const begin = name.startsWith("xdstp:") ? name.indexOf("?") : -1;
  if (begin < 0) return 0;
  let count = 1;
  for (let at = name.indexOf("&", begin); at >= 0; at = name.indexOf("&", at + 1)) count++;
  return count;
}
