import { walkFields } from "@xdstp/core/wire";

/** The type URL of a response of either variant, which have it in the same field; undefined: there is none, or the bytes are not a message. */
export function typeUrlIn(message: Buffer): string | undefined {
  let typeUrl: string | undefined;
  walkFields(message, (field, start, end) => {
    if (field === 4) typeUrl = message.toString("utf8", start, end);
    return undefined;
  });
  return typeUrl;
}
