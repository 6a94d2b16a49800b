import { constants, type ServerHttp2Stream } from "node:http2";
import { type Status, StatusCode } from "@xdstp/core";

const mostTurns = 8;

/**
 * Ends the client's side of a call whose response is complete; without it the call would stay open until the client ends its side too (RFC 9113 section 8.1).
 *
 * Node sends a reset ahead of trailers that are still waiting, so this looks again at the next turns of the event loop until they are out.
 * On a connection that is blocked for longer it gives up: gRPC clients end their side themselves when they read the trailers.
 */
export function endRequest(stream: ServerHttp2Stream, turns: number = mostTurns): void {
  setImmediate(() => {
    if (stream.destroyed || stream.closed) return;
    if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
    else if (turns > 1) endRequest(stream, turns - 1);
  });
}

/** Answers a call with a status and nothing else, in one frame. */
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
