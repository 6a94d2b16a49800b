import { createDeadlines, type Clock, type Deadlines, type Status } from "@xdstp/core";

import { resolveLimits } from "../wire/resolve-limits.ts";
import type { Target } from "./parse-target.ts";

/** The state that all parts of one channel share. */
export interface ChannelContext {
  readonly target: Target;
  readonly limits: ChannelLimits;
  readonly clock: Clock;
  /** Reports an event. Never throws. */
  emit(event: ChannelEvent): void;
  /** Calls with an incomplete message, which has to continue in time. */
  readonly stalls: Deadlines<{ onStalled(): void }>;
  /**
   * Reserves memory for unfinished messages; a negative number releases it. Returns false if the
   * limit is reached.
   */
  reserve(bytes: number): boolean;
}

/**
 * Creates the context of one channel. Exceptions of `onEvent` are ignored, since they must not end
 * a connection.
 */
export function createChannelContext(
  shared: Pick<ChannelContext, "target" | "limits" | "clock">,
  onEvent?: (event: ChannelEvent) => void,
): ChannelContext {
  let partialBytes = 0;
  return {
    ...shared,
    stalls: createDeadlines(shared.clock, shared.limits.stalledMs, (call) => {
      call.onStalled();
    }),
    emit(event) {
      try {
        onEvent?.(event);
      } catch {
        /** ignored, see above */
      }
    },
    reserve(bytes) {
      if (bytes > 0 && partialBytes + bytes > shared.limits.maxPartialBytes) return false;
      partialBytes += bytes;
      return true;
    },
  };
}

/**
 * Limits on what the server of one channel may send: the server is not trusted (C-LIM-7). None can
 * be switched off. Each is an integer from 1 to 2,147,483,647.
 * Headers and trailers have no limit here: Node resets a call whose server sends more than 128 of
 * them.
 *
 * "Room" is the distance of real servers from the limit: our server, grpc-go and grpc-java, with 50
 * MB of state and a latency of 200 ms in each direction.
 */
export interface ChannelLimits {
  /**
   * The maximum number of bytes of a received message. Beyond it the call ends with
   * RESOURCE_EXHAUSTED, before memory is allocated. Default: 64 MiB. Room: a SotW state of 50 MB in
   * one response.
   */
  readonly maxMessageBytes: number;
  /**
   * The maximum number of bytes of unfinished messages of all calls of the channel. Beyond it a
   * call ends with RESOURCE_EXHAUSTED. Default: 256 MiB. Room: four states of 50 MB that arrive at
   * the same time.
   */
  readonly maxPartialBytes: number;
  /**
   * The number of bytes that the server may send on a call before they are read, announced in
   * SETTINGS. It limits the rate: with a latency of 200 ms in each direction, 8 MiB allow 20 MB/s.
   * Default: 8 MiB. It slows a server, and does not end a call.
   */
  readonly windowBytes: number;
  /**
   * Milliseconds without a byte of an incomplete message, while the call is read. Beyond it the
   * call ends with DEADLINE_EXCEEDED; pings only detect a dead connection. Default: 60,000. Any
   * byte of the message counts, at any rate.
   */
  readonly stalledMs: number;
  /**
   * Milliseconds until a connection has to be ready: DNS lookup, TLS, and the first SETTINGS of the
   * server. Default: 20,000. Room: DNS, TCP, TLS and SETTINGS take about five round trips, 2 s with
   * 200 ms in each direction.
   */
  readonly connectMs: number;
  /**
   * Milliseconds without a byte from the server until it is pinged, while calls are open. Default:
   * 30,000. If a server reports that this is too often (GOAWAY `too_many_pings`; grpc-go and
   * grpc-java allow one ping in five minutes by default), the interval is doubled (gRFC A8).
   */
  readonly pingMs: number;
  /**
   * Milliseconds until a ping has to be answered; otherwise the connection is closed. Default:
   * 10,000. Any received byte counts as an answer.
   */
  readonly pingTimeoutMs: number;
  /**
   * Milliseconds that a server has to end a call after the client has ended it in order; then the
   * call is reset. Default: 5,000. A reset loses nothing.
   */
  readonly closeGraceMs: number;
}

const MiB = 1024 * 1024;

/** The defaults of {@link ChannelLimits}. */
export const defaultChannelLimits: ChannelLimits = {
  maxMessageBytes: 64 * MiB,
  maxPartialBytes: 256 * MiB,
  windowBytes: 8 * MiB,
  stalledMs: 60_000,
  connectMs: 20_000,
  pingMs: 30_000,
  pingTimeoutMs: 10_000,
  closeGraceMs: 5_000,
};

/** Returns the limits of one channel. Throws an XdsError that names an invalid limit. */
export function resolveChannelLimits(limits?: Partial<ChannelLimits>): ChannelLimits {
  return resolveLimits(defaultChannelLimits, limits);
}

/**
 * The state of a channel, in the terms of gRPC. `idle`: there is no connection, and none is needed.
 * `ready`: the server has answered over HTTP/2.
 * `transient-failure`: the last attempt or connection failed, and `status` has the reason; the next
 * call tries again (C-GRPC-4). `shutdown`: the channel is closed.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/connectivity-semantics-and-api.md
 */
export type Connectivity =
  | { readonly state: "idle" | "connecting" | "ready" | "shutdown" }
  | { readonly state: "transient-failure"; readonly status: Status };

/** An event of a channel, for logs and metrics. */
export type ChannelEvent =
  | { readonly kind: "connectivity"; readonly connectivity: Connectivity }
  /** A handler has thrown an exception, which it must not do. Its call has ended with INTERNAL. */
  | { readonly kind: "fault"; readonly where: string; readonly error: unknown };
