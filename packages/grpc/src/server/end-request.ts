import { constants, type ServerHttp2Stream } from "node:http2";
import { type Status, StatusCode } from "@xdstp/core";

const mostTurns = 8;

/**
 * Ends the client's side of a call whose response is complete. Otherwise the call would stay open
 * until the client's side ends too (RFC 9113 section 8.1).
 *
 * Node sends a reset before trailers that still wait, so this checks in the next turns of the event
 * loop whether they were sent.
 * If a connection is blocked for longer it gives up: gRPC clients end their side themselves when
 * they read the trailers.
 */
export function endRequest(stream: ServerHttp2Stream, turns: number = mostTurns): void {
  setImmediate(() => {
    if (stream.destroyed || stream.closed) return;
    if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
    else if (turns > 1) endRequest(stream, turns - 1);
  });
}

/** Answers a call with a status only, in one frame. */
export function rejectWithStatus(stream: ServerHttp2Stream, status: Status): void {
  answer(stream, {
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-accept-encoding": "identity",
    ...statusTrailers(status),
  });
}

/** Answers a request that is not a gRPC call. */
export function rejectWithHttp(
  stream: ServerHttp2Stream,
  code: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  answer(stream, { ":status": code, ...headers });
}

function answer(
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, string | number>>,
): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(headers, { endStream: true });
  endRequest(stream);
}

const longestMessage = 2048;
const utf8 = new TextEncoder();

/**
 * Returns the trailers that end a call. An unknown code becomes UNKNOWN.
 * The text is percent-encoded UTF-8 and cut at 2,048 bytes, since clients limit the size of
 * trailers.
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

/**
 * Encodes a text for `grpc-message`: printable ASCII except `%` is unchanged. Lone surrogates
 * become U+FFFD.
 */
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
