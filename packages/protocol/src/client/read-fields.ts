import { decodeText, isUtf8, walkFields } from "@xdstp/core/wire";

/** The number of bytes of an identifier that are kept. The identifier is for people. */
const MOST = 1_024;

/**
 * Returns the type URL of a response; both variants have it in the same field. undefined: there is
 * none, or the bytes are not a message.
 */
export function typeUrlIn(message: Uint8Array): string | undefined {
  let typeUrl: string | undefined;
  walkFields(message, (field, start, end) => {
    if (field === 4) typeUrl = decodeText(message, start, end);
    return undefined;
  });
  return typeUrl;
}

/**
 * Returns the text in `bytes[start, end)`. undefined: it is not UTF-8, so that two different names
 * might become equal.
 */
export function readText(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeText(bytes, start, end);
  return text.includes("\uFFFD") && !isUtf8(bytes, start, end) ? undefined : text;
}

/** Returns `identifier` of an encoded `ControlPlane` (B-NODE-9). Empty: the server gave none. */
export function readIdentifier(bytes: Uint8Array, start: number, end: number): string {
  let identifier = "";
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) identifier = decodeText(bytes, from, Math.min(to, from + MOST));
      return undefined;
    },
    { start, end },
  );
  return identifier;
}
