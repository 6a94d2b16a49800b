import { canonicalName } from "./canonical-name.ts";
import { isStar, lastSegment } from "./last-segment.ts";
import type { Locator } from "./locator.ts";
import type { XdstpName } from "./xdstp-name.ts";

/**
 * Whether something is a glob: its decoded id is `*` or ends in `/*` (N-50).
 *
 * A string is taken as a name as received; an opaque name never is a glob (N-56).
 * Of locators, `xdstp` and `file` have globs, `http` has none (N-20, N-57).
 */
export function isGlob(name: string | XdstpName | Locator): boolean {
  if (typeof name !== "string")
    return name.scheme !== "http" && (name.id === "*" || name.id.endsWith("/*"));
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  return key !== undefined && segment !== undefined && isStar(key, segment);
}
