import { authorityOf, globOf, nameKey, parseName, typeOf } from "@xdstp/uri";

import { readDirected } from "./read-directed.ts";
import type { Variant } from "./variants/variant.ts";

/** What the cache has to know of a name. */
export interface ReadName {
  /** `invalid`: begins with `xdstp:` and is not a name (N-18 and others), so nothing can have it. */
  readonly kind: "opaque" | "name" | "glob" | "invalid";
  /** Equal for equal names (N-40, N-43). */
  readonly key: string;
  /** Key of the one glob that may cover it (N-54). */
  readonly parent?: string | undefined;
  readonly authority?: string | undefined;
  /** The type in the name, without `type.googleapis.com/`. */
  readonly type?: string;
  /** Why it is invalid; of a name with directives, why it is none where these are not admitted. */
  readonly fault?: string;
  /** It has directives. */
  readonly directed?: boolean;
  /** Present for one of several variants (TP2). */
  readonly variant?: Variant;
}

/** Reads a name of a request, a resource or a removal. */
export function readName(text: string): ReadName {
  const key = nameKey(text);
  if (!key.startsWith("xdstp:")) return { kind: "opaque", key };
  const type = typeOf(key);
  if (type === undefined) return readDirected(text, faultOf(text));
  const parent = globOf(key);
  return {
    kind: parent === undefined && isGlobKey(key) ? "glob" : "name",
    key,
    parent,
    authority: authorityOf(key),
    type,
  };
}

/** Whether a name has context parameters. */
export function hasParameters({ key }: ReadName): boolean {
  return key.includes("?");
}

/** In a canonical name a `?` stands only before the query, so a glob ends in `/*` or has it before the first `?` (N-33, N-50). */
function isGlobKey(key: string): boolean {
  const query = key.indexOf("?");
  return key.endsWith("/*", query === -1 ? key.length : query);
}

function faultOf(text: string): string {
  const parsed = parseName(text);
  return parsed.ok ? "" : parsed.error.message;
}
