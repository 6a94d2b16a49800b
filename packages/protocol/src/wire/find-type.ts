import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import { requestFields, type VariantName } from "./request-fields.ts";

/** What {@link findType} found. */
export type FoundType =
  | { readonly found: true; readonly type: string }
  /** `more`: the rest of the message may hold it; ask again with `at`. Not `more`: there is none that could be served. */
  | { readonly found: false; readonly more: boolean; readonly at: number };

/** Characters of a type URL. No type URL is longer (S-LIM-4). */
export const MAX_TYPE = 1024;

/**
 * The type URL of a request of which only a prefix has come. What stands before it (the node with its extensions, name lists) is skipped undecoded. Never throws.
 *
 * Called before the size limit of a message is chosen, since the first one of a type may be larger (S-SIZE-5).
 * Pass `at` of the last answer as `from` when more has come: all calls for one message cost one pass together.
 * A message that names two types has the last one; the decoder goes by that.
 */
export function findType(prefix: Uint8Array, variant: VariantName, from = 0): FoundType {
  const wanted = requestFields[variant].type;
  let type: string | undefined;
  const { outcome, at } = walkFields(
    prefix,
    (field, start, end, wireType) => {
      if (field !== wanted || wireType !== WireType.LENGTH_DELIMITED) return true;
      if (end - start <= MAX_TYPE) type = decodeText(prefix, start, end);
      return false;
    },
    { start: from },
  );
  if (type !== undefined) return { found: true, type };
  const more =
    outcome === "complete" || (outcome === "truncated" && !isOverlong(prefix, at, wanted));
  return { found: false, more, at };
}

/** More of a type URL has come than one may have. */
function isOverlong(prefix: Uint8Array, at: number, wanted: number): boolean {
  return prefix[at] === wanted * 8 + WireType.LENGTH_DELIMITED && prefix.length - at > MAX_TYPE + 8;
}
