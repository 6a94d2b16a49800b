import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import { requestFields, type VariantName } from "./request-fields.ts";

/** The result of {@link findType}. */
export type FoundType =
  | { readonly found: true; readonly type: string }
  /**
   * `more`: the rest of the message may have a type; call again with `at`. Otherwise the message
   * has no type that could be served.
   */
  | { readonly found: false; readonly more: boolean; readonly at: number };

/** The greatest length of a type URL (S-LIM-4). */
export const MAX_TYPE = 1024;

/**
 * Returns the type URL of a request of which only a prefix has come. Fields before it (the node
 * with its extensions, name lists) are skipped without decoding. Never throws.
 *
 * Called before the size limit of a message is chosen, since the first message of a type may be
 * larger (S-SIZE-5).
 * When more has come, pass `at` of the last result as `from`: then all calls for one message
 * together read it once.
 * If a message has two types, this returns the first and the decoder uses the last.
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

/** Returns true if more of a type URL has come than one may have. */
function isOverlong(prefix: Uint8Array, at: number, wanted: number): boolean {
  return prefix[at] === wanted * 8 + WireType.LENGTH_DELIMITED && prefix.length - at > MAX_TYPE + 8;
}
