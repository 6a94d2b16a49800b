import { concatBytes, lengthDelimited, walkFields, WireType } from "@xdstp/core/wire";
import { requestFields, type VariantName } from "./request-fields.ts";

/**
 * Fields of `envoy.config.core.v3.Node`. They are nearly all of the 61 KB of Envoy's node, and of
 * the node of a proxy in a mesh.
 */
const [METADATA, EXTENSIONS] = [3, 9];
const EXTENSIONS_ONLY: readonly number[] = [EXTENSIONS];
const UNREAD: readonly number[] = [METADATA, EXTENSIONS];

/**
 * Returns a request without `node.extensions`, which are removed without decoding (S-NODE-6). The
 * same array if there is nothing to remove; else a new one.
 * Malformed bytes are returned unchanged: the decoder reports the error.
 */
export function withoutExtensions(message: Uint8Array, variant: VariantName): Uint8Array {
  return without(message, variant, EXTENSIONS_ONLY);
}

/**
 * Returns a request without `node.extensions` and `node.metadata`. The state machines, which store
 * neither, call this before they decode.
 */
export function withoutUnread(message: Uint8Array, variant: VariantName): Uint8Array {
  return without(message, variant, UNREAD);
}

function without(message: Uint8Array, variant: VariantName, ofNode: readonly number[]): Uint8Array {
  const node = requestFields[variant].node;
  const kept = keptParts(message, 0, message.length, (field, start, end) => {
    if (field !== node) return undefined;
    const parts = keptParts(message, start, end, (inner) =>
      ofNode.includes(inner) ? [] : undefined,
    );
    return parts === undefined ? undefined : [lengthDelimited(node, concatBytes(parts))];
  });
  return kept === undefined ? message : concatBytes(kept);
}

/** Returns the replacement of a field. undefined: the field stays. */
type Replacement = (field: number, start: number, end: number) => readonly Uint8Array[] | undefined;

/**
 * Returns the range with its replacements, as parts. undefined: nothing is replaced, or the range
 * is malformed.
 */
function keptParts(
  message: Uint8Array,
  from: number,
  to: number,
  replace: Replacement,
): readonly Uint8Array[] | undefined {
  const parts: Uint8Array[] = [];
  let keptFrom = from;
  let fieldAt = from;
  const { outcome } = walkFields(
    message,
    (field, start, end, wireType) => {
      const replacement =
        wireType === WireType.LENGTH_DELIMITED ? replace(field, start, end) : undefined;
      if (replacement !== undefined) {
        if (keptFrom < fieldAt) parts.push(message.subarray(keptFrom, fieldAt));
        parts.push(...replacement);
        keptFrom = end;
      }
      fieldAt = end;
      return true;
    },
    { start: from, end: to },
  );
  if (keptFrom === from || outcome !== "complete") return undefined;
  parts.push(message.subarray(keptFrom, to));
  return parts;
}
