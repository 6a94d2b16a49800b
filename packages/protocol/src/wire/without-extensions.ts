import { concatBytes, lengthDelimited, walkFields, WireType } from "@xdstp/core/wire";
import { requestFields, type VariantName } from "./request-fields.ts";

/** Fields of `envoy.config.core.v3.Node`: nearly all of the 61 KB of Envoy's node, and of the node of a proxy of a mesh. */
const [METADATA, EXTENSIONS] = [3, 9];
const EXTENSIONS_ONLY: readonly number[] = [EXTENSIONS];
const UNREAD: readonly number[] = [METADATA, EXTENSIONS];

/**
 * A request without `node.extensions`, which is cut out undecoded (S-NODE-6). The same array where there is nothing to cut; else a new one.
 * Malformed bytes come back as they are: the decoder says what is wrong.
 */
export function withoutExtensions(message: Uint8Array, variant: VariantName): Uint8Array {
  return without(message, variant, EXTENSIONS_ONLY);
}

/** The same, also without `node.metadata`. The state machines, which keep neither, call it before they decode. */
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

/** The replacement of a message field; undefined: it stays. */
type Replacement = (field: number, start: number, end: number) => readonly Uint8Array[] | undefined;

/** The range with its replacements; undefined where nothing is replaced, or where it is malformed. */
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
