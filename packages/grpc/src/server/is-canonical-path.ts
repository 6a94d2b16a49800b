/**
 * Whether a `:path` is written in the one way that names a method: one slash before each part, no escapes, no dot segments.
 * `query` allows a query behind it, which only GET has.
 *
 * Whoever authorises by path and whoever routes by it must read the same (CVE-2026-33186).
 */
export function isCanonicalPath(path: string, query = false): boolean {
  const mark = path.indexOf("?");
  if (mark >= 0 && !query) return false;
  const plain = mark < 0 ? path : path.slice(0, mark);
  return /^(?:\/[\w.:~-]+)+$/.test(plain) && !/\/\.{1,2}(?:\/|$)/.test(plain);
}
