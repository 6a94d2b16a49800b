import type { ServerHttp2Stream } from "node:http2";
import type { Status } from "@xdstp/core";
import { endRequest } from "./end-request.ts";
import { statusTrailers } from "./status-trailers.ts";

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
