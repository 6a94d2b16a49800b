import { createServer, type Http2Server } from "node:http2";
import type { GrpcContext } from "./grpc-context.ts";

/**
 * Node's count includes what is queued for all calls of a connection, each of which has its own
 * limit. Its default of 10 MB would reject calls long before.
 */
const sessionMegabytes = 1024;
const streamWindowBytes = 1024 * 1024;
/** More than the size of any header block that HTTP/2 accepts without HPACK compression. */
const headerSlackBytes = 256 * 1024;
/**
 * The maximum number of headers of one call, each of which may be compressed to one byte. Real
 * clients send a few dozen.
 */
const headerCount = 1_000;

/**
 * Creates an HTTP/2 server that announces its limits to clients. It does not listen: its port emits
 * `connection` on it for each socket.
 */
export function createHttp2Server({ limits }: GrpcContext): Http2Server {
  // Beyond these Node resets a call without a status. Between the two limits `CallDispatch` rejects
  // the call, with a status and a counter.
  const maxHeaderListSize = limits.headerListBytes + headerSlackBytes;
  const server = createServer({
    maxSessionMemory: sessionMegabytes,
    // A client that cancels all its calls at once is not an attack (grpc-node#2872). A client that
    // keeps doing so is (CVE-2023-44487).
    streamResetBurst: Math.max(1000, limits.maxStreamsPerConnection),
    streamResetRate: 100,
    maxHeaderListPairs: headerCount,
    settings: {
      maxConcurrentStreams: limits.maxStreamsPerConnection,
      maxHeaderListSize,
      initialWindowSize: streamWindowBytes,
      enablePush: false,
    },
  });
  server.on("sessionError", ignore);
  return server;
}

/** The end of the session follows, and needs no action. */
function ignore(): void {
  /** see above */
}
