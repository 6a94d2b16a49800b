import { resolveLimits } from "../wire/resolve-limits.ts";

/**
 * Limits of one server on its peers (S-LIM-1, S-LIM-3). None can be switched off. Each has a counter in {@link GrpcStats.cuts},
 * except `httpIdleMs`, and `maxStreamsPerConnection`, which HTTP/2 itself keeps: {@link GrpcStats.connectionsFilled} counts how often it was reached.
 *
 * A peer is the principal of the verified certificate, and an IP address where there is none; for connections it is always an IP address.
 *
 * "Room" says how far a real client stays below the limit. It was checked for Envoy, grpc-go, C-core, grpc-java and grpc-js with 50 MB of state,
 * 200 ms of latency each way, windows of 64 KiB, 100 streams on a connection, 64 KiB of headers and keepalive every 10 s.
 */
export interface GrpcLimits {
  /** Open connections. Default 20,000. Room: a client has one or a few; a fleet behind more than 20,000 connections needs more servers. */
  readonly maxConnections: number;
  /** Open connections of one IP address. Default 20,000. Room: peers behind one proxy share an address, so it equals `maxConnections`; lower it where they do not. */
  readonly maxConnectionsPerPeer: number;
  /** Open calls, streaming or not. Default 200,000. Room: an Envoy with a stream for each type of each of 100 clusters has some hundred. */
  readonly maxStreams: number;
  /** Open calls of one peer. Default 100,000. Room: as for `maxStreams`; peers without certificates behind one proxy share it. */
  readonly maxStreamsPerPeer: number;
  /**
   * Open calls of one connection, announced in SETTINGS, so that a client waits or opens another connection. HTTP/2 resets calls that are opened before the client has
   * acknowledged SETTINGS with REFUSED_STREAM, and ends the connection of a client that ignores them (`protocol-error`). Default 5,000.
   * Room: Envoy with streams per type opens one per cluster; all real clients obey the announced number.
   */
  readonly maxStreamsPerConnection: number;
  /** Open calls of one connection that Connect serves, Fetch and client status, and requests that an HTTP/1.1 client pipelines. Default 100. Room: a poller has one for each type. */
  readonly maxCallsPerConnection: number;
  /** Bytes of a message received. Default 16 MiB. Room: a SotW client lists all its names in each request, 10 MB for 100,000 names of 100 bytes. */
  readonly maxMessageBytes: number;
  /** Bytes of a message that the handler admits above the ordinary limit, one at a time per connection. Default 32 MiB (S-SIZE-5). Room: 3.5 MB for 40,000 `initial_resource_versions`. */
  readonly maxFirstMessageBytes: number;
  /** Bytes of unfinished messages that one connection may hold. Default 64 MiB. Room: 100 streams that each send 600 KiB at the same time. */
  readonly maxPartialBytes: number;
  /** Bytes queued for one stream in addition to the message in flight. Default 8 MiB. A stream is sent its next response when the one before is written, so no state is too large. */
  readonly maxQueuedBytes: number;
  /**
   * Bytes of the headers of a call as HTTP/2 counts them: names and values, uncompressed, and 32 for each. Default 96 KiB. Room: 64 KiB of headers, a JWT of 17 KiB among them;
   * HTTP/2 itself takes no single value above 64 KiB. SETTINGS announce 256 KiB more, so that the client gets a status; HTTP/2 itself ends a call beyond that, and one with more than 1,000 headers.
   */
  readonly headerListBytes: number;
  /**
   * Milliseconds until the TLS handshake of a connection is done, and then until its client opens a call that this server serves. Default 15,000.
   * Room: a handshake takes 3 round trips, 1.2 s at 200 ms each way. `messageMs` is the limit of a message. A call without a message has no deadline, since an Envoy
   * opens a stream for each of its `config_sources`, often on a connection of its own, and may never use it.
   */
  readonly firstMessageMs: number;
  /** Milliseconds of one look at a message that has begun: in each, its connection has to send `minBytesPerSecond`. Default 30,000. Room: 3.5 MB at 200 kB/s take 18 s, at 20 kB/s 3 minutes. */
  readonly messageMs: number;
  /**
   * Milliseconds of one look at a queue that is full, and at a stream that was ended: in each, the connection has to take `minBytesPerSecond`. Default 60,000.
   * Room: 50 MB at 300 kB/s take 3 minutes and 20 streams of 20 MB at 400 kB/s 17 minutes; HTTP/2 may serve one stream after the other.
   */
  readonly stalledMs: number;
  /**
   * The least rate of a slow connection, in bytes per second, in the direction that is waited for. Default 256. Room: the slowest links in use carry about 1,000.
   * A peer that sends or reads one byte at a time to keep a server busy holds no more memory than `maxPartialBytes` and `maxQueuedBytes`.
   */
  readonly minBytesPerSecond: number;
  /**
   * Milliseconds that an HTTP/1.1 connection without an open request is kept for the next one, which has to arrive up to its body by then. Default 120,000. The connection then ends in order,
   * which no counter counts. Room: pollers come every 5 s to 60 s. A connection on which a request is open has no limit but `stalledMs`.
   */
  readonly httpIdleMs: number;
  /** Milliseconds between keepalive pings of the server. Default 30,000. All real clients answer pings by themselves. */
  readonly pingMs: number;
  /**
   * Milliseconds after a ping within which the peer has to send a byte, or to read `minBytesPerSecond`. Default 60,000. Any byte counts, since the answer may wait behind megabytes on a slow link.
   * Room: Envoy reads nothing while it applies a response. 40,000 clusters in one response take it 14 s of CPU time, and took 54 s on a busy machine.
   */
  readonly pingTimeoutMs: number;
  /**
   * Milliseconds between pings of a client, with three in a row forgiven. Default 1,000. Room: gRPC clients ping at most every 10 s, and Envoy as configured, every second at most.
   * A ping after DATA or HEADERS were sent is always in order: clients measure the bandwidth so.
   */
  readonly minPingIntervalMs: number;
  /** Milliseconds that a connection without calls stays after GOAWAY of its peer. Default 30,000. A connection with open calls is in use and stays. */
  readonly goawayGraceMs: number;
  /**
   * Bytes that a peer may send at once that carry nothing: frames of HTTP/2 itself, and headers that HTTP/2 rejects (HPACK bombs). Beyond it the connection is cut (`no-content`). Default 4 MiB.
   * Bytes of messages and of accepted headers are credited twice, and a quarter of what is sent; 16 KiB come back each second.
   * A header block that HTTP/2 rejects counts as 64 KiB more, on its connection and for its peer: by default a peer may send 64 of them at once over all its connections, then one every 4 s;
   * beyond it each connection that sends one is cut. It is looked 20 times a second, less often above 200 connections, and once a second from 4,000 on. Until then one read of a socket (64 KB) may be full of such blocks, which takes 80 ms.
   * Room: WINDOW_UPDATE frames of a client with windows of 64 KiB are a thousandth of what it reads. Real clients send no headers of 352 KiB, nor 1,000 of them in one call.
   */
  readonly emptyBytes: number;
  /**
   * Calls of one connection that may be rejected at once for what the peer sent: a message that is malformed, compressed or too large, headers that are too large, an unknown path,
   * and whatever the handler ends with INVALID_ARGUMENT or UNIMPLEMENTED. UNAVAILABLE, RESOURCE_EXHAUSTED and PERMISSION_DENIED of a handler do not count.
   * 20 come back each second, or a fiftieth of the limit if that is more. Beyond it the connection is cut (`rejected-calls`). Default 1,000.
   * Room: a misconfigured client opens each stream again, with back-off: after 0.5 s and then up to 30 s (Envoy), after 1 s and then up to 2 minutes (gRPC). 180 such streams on one
   * connection stay below it, and 20 that are opened again each second. Raise it for a proxy that carries more misconfigured clients on one connection.
   */
  readonly rejectedCalls: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** The defaults of {@link GrpcLimits}. */
export const defaultGrpcLimits: GrpcLimits = {
  maxConnections: 20_000,
  maxConnectionsPerPeer: 20_000,
  maxStreams: 200_000,
  maxStreamsPerPeer: 100_000,
  maxStreamsPerConnection: 5_000,
  maxCallsPerConnection: 100,
  maxMessageBytes: 16 * MiB,
  maxFirstMessageBytes: 32 * MiB,
  maxPartialBytes: 64 * MiB,
  maxQueuedBytes: 8 * MiB,
  headerListBytes: 96 * KiB,
  firstMessageMs: 15_000,
  messageMs: 30_000,
  stalledMs: 60_000,
  httpIdleMs: 120_000,
  minBytesPerSecond: 256,
  pingMs: 30_000,
  pingTimeoutMs: 60_000,
  minPingIntervalMs: 1_000,
  goawayGraceMs: 30_000,
  emptyBytes: 4 * MiB,
  rejectedCalls: 1_000,
};

/** The limits of one server. Throws an XdsError that names a limit which is not a whole number from 1 to 2,147,483,647. */
export function resolveGrpcLimits(limits: Partial<GrpcLimits> = {}): GrpcLimits {
  return resolveLimits(defaultGrpcLimits, limits);
}
