import { inDirective, inId } from "./character-set.ts";
import { encode } from "./encode.ts";
import type { Directive, Locator } from "./locator.ts";
import { printResourceParts } from "./print-name.ts";

/**
 * The canonical string of a locator (xdstp-names.md section 4). On an HTTP request its fragment is never sent (N-38).
 *
 * Never throws; {@link printName} documents what it does with parts that no parser gave.
 */
export function printLocator(locator: Locator): string {
  const located =
    locator.scheme === "file"
      ? `file:///${encode(locator.id, inId)}`
      : printResourceParts(locator.scheme, locator);
  const { directives } = locator;
  return directives.length === 0
    ? located
    : `${located}#${directives.map(printDirective).join(",")}`;
}

/** An inner locator is escaped again, so a nested directive is escaped twice (N-37). */
function printDirective(directive: Directive): string {
  const value = directive.kind === "alt" ? printLocator(directive.locator) : directive.entry;
  return `${directive.kind}=${encode(value, inDirective)}`;
}
