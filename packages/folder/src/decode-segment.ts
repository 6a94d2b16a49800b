import { Fault } from "./fault.ts";
import { isUtf8, notUtf8 } from "./not-utf8.ts";
import { quote } from "./quote.ts";

/**
 * A file or folder name as a part of a resource name: `%HH` is the byte, so `%2F` is a slash and `%25` a percent sign.
 * Throws a fault for a bad escape (N-05), for bytes that are not UTF-8 (N-06) and for a name that is none.
 */
export function decodeSegment(segment: string): string {
  if (!isUtf8(segment)) throw new Fault(notUtf8(segment));
  const bad = /%(?![0-9A-Fa-f]{2})/.exec(segment);
  if (bad !== null) {
    const escape = segment.slice(bad.index, bad.index + 3);
    throw new Fault({
      message: `${quote(escape)} in the file name ${quote(segment)} is not an escape`,
      rule: "N-05",
      hint: "a percent sign is written %25",
    });
  }
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Fault({
      message: `the escapes in the file name ${quote(segment)} are not UTF-8`,
      rule: "N-06",
      hint: "escape the UTF-8 bytes, for instance %C3%A9",
    });
  }
}
