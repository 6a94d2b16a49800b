import { isUtf8 } from "node:buffer";

import { walkFields } from "@xdstp/core/wire";

/** The number of bytes of an identifier that are kept. The identifier is for people. */
const MOST = 1_024;

/**
 * Returns the type URL of a response; both variants have it in the same field. undefined: there is
 * none, or the bytes are not a message.
 */
export function typeUrlIn(message: Buffer): string | undefined {
  let typeUrl: string | undefined;
  walkFields(message, (field, start, end) => {
    if (field === 4) typeUrl = message.toString("utf8", start, end);
    return undefined;
  });
  return typeUrl;
}

/**
 * Returns the text in `bytes[start, end)`. undefined: it is not UTF-8, so that two different names
 * might become equal.
 */
export function readText(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString("utf8", start, end);
  return text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, end)) ? undefined : text;
}

/** Returns `identifier` of an encoded `ControlPlane` (B-NODE-9). Empty: the server gave none. */
export function readIdentifier(bytes: Buffer, start: number, end: number): string {
  let identifier = "";
  walkFields(
    bytes,
    (field, from, to) => {
      if (field === 1) identifier = bytes.toString("utf8", from, Math.min(to, from + MOST));
      return undefined;
    },
    { start, end },
  );
  return identifier;
}
