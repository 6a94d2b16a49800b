import { parseName, printName } from "@xdstp/uri";

/** What makes a name of any beginning of one. */
const endings = [
  "",
  "x",
  "/x",
  "T/x",
  "/T/x",
  "a/T/x",
  "/a/T/x",
  "//a/T/x",
  "=v",
  "k=v",
  "~=v",
  "20",
  "0",
  "%80",
  "%80%80",
] as const;

/** A pattern that fits names, or one that fits none and, where it is known, what was meant. */
export type NamePattern = { readonly pattern: string } | { readonly meant: string | undefined };

/**
 * A name in canonical spelling, or with `*` at its end how such names begin. Names are compared in that spelling, so a beginning that no canonical
 * name has fits nothing. Opaque names are as they are (N-40).
 */
export function namePattern(text: string): NamePattern {
  if (!text.startsWith("xdstp:")) return { pattern: text };
  if (!text.endsWith("*")) {
    const canonical = canonicalOf(text);
    return canonical === undefined ? { meant: undefined } : { pattern: canonical };
  }
  const start = text.slice(0, -1);
  const complete = endings.flatMap((ending) => {
    const canonical = canonicalOf(start + ending);
    return canonical === undefined ? [] : [{ canonical, ending }];
  });
  if (complete.some(({ canonical }) => canonical.startsWith(start))) return { pattern: text };
  const meant = complete.find(
    ({ canonical, ending }) =>
      canonical.endsWith(ending) &&
      canonical.length - ending.length <= start.length &&
      !start.includes("&"),
  );
  return {
    meant: meant && `${meant.canonical.slice(0, meant.canonical.length - meant.ending.length)}*`,
  };
}

function canonicalOf(text: string): string | undefined {
  const parsed = parseName(text);
  return parsed.ok ? printName(parsed.value) : undefined;
}
