import { resolveLimits } from "../wire/resolve-limits.ts";

/**
 * What one server takes from its peers (S-LIM-1, S-LIM-3). None can be switched off. Each has a counter in {@link GrpcStats.cuts},
 * but for `maxStreamsPerConnection`, which HTTP/2 itself keeps: {@link GrpcStats.connectionsFilled} counts how often it was reached.
 *
 * "Peer" is whom the verified certificate names, and an IP address where there is none; for connections it is always an IP address.
 */
export interface GrpcLimits {
  /** Open connections. Default 20,000. */
  readonly maxConnections: number;
  /** Open connections of one peer. Default 20,000: peers behind one proxy share an address; lower it where they do not. */
  readonly maxConnectionsPerPeer: number;
  /** Open calls, streaming or not. Default 200,000. */
  readonly maxStreams: number;
  /** Open calls of one peer. Default 100,000. */
  readonly maxStreamsPerPeer: number;
  /**
   * Open calls of one connection, told to it in SETTINGS, so that a client waits or opens another connection. HTTP/2 resets what comes before the client has
   * acknowledged that with REFUSED_STREAM, and ends the connection of one that has (`protocol-error`). Default 5,000: Envoy with streams per type opens one per cluster.
   */
  readonly maxStreamsPerConnection: number;
  /** Open calls of one connection that Connect serves. Default 100. */
  readonly maxCallsPerConnection: number;
  /** Bytes of a message received. Default 4 MiB. */
  readonly maxMessageBytes: number;
  /** Bytes of a message that the handler admits above the ordinary limit, one at a time per connection. Default 32 MiB (S-SIZE-5). */
  readonly maxFirstMessageBytes: number;
  /** Bytes of unfinished messages that one connection may hold. Default 64 MiB. */
  readonly maxPartialBytes: number;
  /** Bytes queued for one stream beyond the message in flight. Default 8 MiB. */
  readonly maxQueuedBytes: number;
  /**
   * Bytes of the headers of a call as HTTP/2 counts them: names and values, uncompressed, and 32 for each. Default 16 KiB. SETTINGS tell of 256 KiB more, so that
   * who exceeds it is told why; HTTP/2 itself ends what exceeds that too.
   */
  readonly headerListBytes: number;
  /** Milliseconds until the TLS handshake of a connection is done, and then until its first message. Default 15,000. A single silent stream has no deadline. */
  readonly firstMessageMs: number;
  /** Milliseconds from the first to the last byte of a message. Default 30,000. */
  readonly messageMs: number;
  /** Milliseconds for which the queue of a stream may stay full, and for which an ended stream may take to be read. Default 60,000. */
  readonly stalledMs: number;
  /** Milliseconds between keepalive pings. Default 30,000. */
  readonly pingMs: number;
  /** Milliseconds until a ping must be answered. Default 10,000. */
  readonly pingTimeoutMs: number;
  /** Milliseconds between pings of a client, with three in a row forgiven. Default 1,000: an Envoy told to ping often is no attack. */
  readonly minPingIntervalMs: number;
  /** Milliseconds that a connection lives after GOAWAY from its peer. Default 30,000. */
  readonly goawayGraceMs: number;
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
  maxMessageBytes: 4 * MiB,
  maxFirstMessageBytes: 32 * MiB,
  maxPartialBytes: 64 * MiB,
  maxQueuedBytes: 8 * MiB,
  headerListBytes: 16 * KiB,
  firstMessageMs: 15_000,
  messageMs: 30_000,
  stalledMs: 60_000,
  pingMs: 30_000,
  pingTimeoutMs: 10_000,
  minPingIntervalMs: 1_000,
  goawayGraceMs: 30_000,
};

/** The limits of one server. Throws an XdsError that names a limit which is no whole number from 1 to 2,147,483,647. */
export function resolveGrpcLimits(limits: Partial<GrpcLimits> = {}): GrpcLimits {
  return resolveLimits(defaultGrpcLimits, limits);
}
