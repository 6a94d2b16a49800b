import { isUtf8 } from "node:buffer";

import { walkFields } from "@xdstp/core/wire";

/** Bytes of an identifier that are kept: it is for people. */
const MOST = 1_024;

/** The type URL of a response of either variant, which have it in the same field; undefined: there is none, or the bytes are not a message. */
export function typeUrlIn(message: Buffer): string | undefined {
  let typeUrl: string | undefined;
  walkFields(message, (field, start, end) => {
    if (field === 4) typeUrl = message.toString("utf8", start, end);
    return undefined;
  });
  return typeUrl;
}

/** The text in `bytes[start, end)`; undefined: it is not UTF-8, so two of them might be mistaken for one. */
export function readText(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString("utf8", start, end);
  return text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, end)) ? undefined : text;
}

/** `identifier` of an encoded `ControlPlane` (B-NODE-9). Empty: none is given. */
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
