import { globOf } from "./glob-of.ts";
import { nameKey } from "./name-key.ts";

/** Whether a name is a member of a glob, both as received (N-51 to N-53). false when `glob` is not a glob or `name` is not an xdstp name. */
export function globMatches(glob: string, name: string): boolean {
  return globOf(name) === nameKey(glob);
}
