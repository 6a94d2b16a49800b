import { createDeadlines, type Clock, type Deadlines, type Status } from "@xdstp/core";

import { resolveLimits } from "../wire/resolve-limits.ts";
import type { Target } from "./parse-target.ts";

/** What all parts of one channel share. */
export interface ChannelContext {
  readonly target: Target;
  readonly limits: ChannelLimits;
  readonly clock: Clock;
  /** Never throws. */
  emit(event: ChannelEvent): void;
  /** Calls in the middle of a message, of which more has to come in time. */
  readonly stalls: Deadlines<{ onStalled(): void }>;
  /** Memory of unfinished messages; negative gives back. false: the limit is reached. */
  reserve(bytes: number): boolean;
}

/** The context of one channel. What `onEvent` throws goes no further: it must not end a connection. */
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
        /* see above */
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
 * What one channel takes from its server, which it does not trust (C-LIM-7). None can be switched off; each is a whole number from 1 to 2,147,483,647.
 * Headers and trailers have no limit here: Node resets a call whose server sends more than 128.
 *
 * "Room" says how far real servers stay below the limit: ours, and those on grpc-go and grpc-java, with 50 MB of state and 200 ms of latency each way.
 */
export interface ChannelLimits {
  /** Bytes of a message received. Beyond it the call ends with RESOURCE_EXHAUSTED before anything is allocated. Default 64 MiB. Room: a SotW state of 50 MB in one response. */
  readonly maxMessageBytes: number;
  /** Bytes of unfinished messages that all calls of the channel may hold. Beyond it a call ends with RESOURCE_EXHAUSTED. Default 256 MiB. Room: four states of 50 MB that arrive at the same time. */
  readonly maxPartialBytes: number;
  /** Bytes that the server may send on a call before this side reads them; SETTINGS tell it so. It limits what may be on the way at once: with 200 ms of delay each way, 8 MiB allow 20 MB a second. Default 8 MiB. It slows a server and does not end a call. */
  readonly windowBytes: number;
  /** Milliseconds without a byte of a message that has begun, while it is read. Beyond it the call ends with DEADLINE_EXCEEDED; pings find only that a connection is dead. Default 60,000. Any byte of the message counts, at any rate. */
  readonly stalledMs: number;
  /** Milliseconds until a connection has to be there: name looked up, TLS done, the first SETTINGS of the server read. Default 20,000. Room: DNS, TCP, TLS and SETTINGS are about five round trips, 2 s at 200 ms each way. */
  readonly connectMs: number;
  /** Milliseconds without a byte of the server until it is pinged, while calls are open. Default 30,000. A server that calls that too often (GOAWAY `too_many_pings`; grpc-go and grpc-java take one in five minutes by default) is pinged half as often from then on (gRFC A8). */
  readonly pingMs: number;
  /** Milliseconds until a ping has to be answered; else the connection is given up. Default 10,000. Any byte that is received counts. */
  readonly pingTimeoutMs: number;
  /** Milliseconds that a server gets to end a call which this side has ended in order; then it is reset. Default 5,000. Nothing is lost with the call. */
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

/** The limits of one channel. Throws an XdsError that names a limit which cannot be kept. */
export function resolveChannelLimits(limits?: Partial<ChannelLimits>): ChannelLimits {
  return resolveLimits(defaultChannelLimits, limits);
}

/**
 * The state of a channel, in the words of gRPC. `idle`: there is no connection and none is needed. `ready`: the server has answered over HTTP/2.
 * `transient-failure`: the last attempt or connection failed, `status` says why; the next call tries again (C-GRPC-4). `shutdown`: the channel is closed.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/connectivity-semantics-and-api.md
 */
export type Connectivity =
  | { readonly state: "idle" | "connecting" | "ready" | "shutdown" }
  | { readonly state: "transient-failure"; readonly status: Status };

/** What happens in a channel, for logs and metrics. */
export type ChannelEvent =
  | { readonly kind: "connectivity"; readonly connectivity: Connectivity }
  /** A handler threw, which it must not. Its call ended with INTERNAL. */
  | { readonly kind: "fault"; readonly where: string; readonly error: unknown };
