import { StatusCode, type Status } from "@xdstp/core";

const longestMessage = 2048;
const utf8 = new TextEncoder();

/**
 * The trailers that end a call. A code that gRPC does not know becomes UNKNOWN.
 * The text is percent-encoded UTF-8 and cut at 2,048 bytes: clients bound what they take as trailers.
 */
export function statusTrailers(status: Status): Record<string, string> {
  const known =
    Number.isInteger(status.code) &&
    status.code >= StatusCode.OK &&
    status.code <= StatusCode.UNAUTHENTICATED;
  const trailers = { "grpc-status": String(known ? status.code : StatusCode.UNKNOWN) };
  return status.message === ""
    ? trailers
    : { ...trailers, "grpc-message": encodeGrpcMessage(status.message) };
}

/** A text as `grpc-message` carries it: printable ASCII except `%` is unchanged. Lone surrogates become U+FFFD. */
export function encodeGrpcMessage(text: string): string {
  if (text.length <= longestMessage && /^[ -$&-~]*$/.test(text)) return text;
  let encoded = "";
  for (const character of text) {
    const escaped = /^[ -$&-~]$/.test(character) ? character : escape(character);
    if (encoded.length + escaped.length > longestMessage) break;
    encoded += escaped;
  }
  return encoded;
}

function escape(character: string): string {
  return Array.from(
    utf8.encode(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}
