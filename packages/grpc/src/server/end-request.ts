import { constants, type ServerHttp2Stream } from "node:http2";

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
