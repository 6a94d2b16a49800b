import { authorityOf } from "@xdstp/uri";

/** Reads the authority of names, of which many in a row have the same; null: an opaque name. A text that is not a name has an authority without servers. */
export function createAuthorityReader(): (name: string) => string | null {
  let prefix = "\n";
  let last: string | null = null;
  return (name) => {
    if (!name.startsWith("xdstp:")) return null;
    if (name.startsWith(prefix)) return last;
    const authority = authorityOf(name);
    if (authority === undefined) return "\n";
    prefix = name.slice(0, name.indexOf("/", 8) + 1);
    return (last = authority);
  };
}
