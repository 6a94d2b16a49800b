import {
  type BackoffOptions,
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type ResourceType,
  systemClock,
} from "@xdstp/core";
import type { ClientEvent } from "./client-event.ts";
import { defaultClientLimits, type ClientLimits } from "./client-limits.ts";

/** Opens a call to the one server of a client. It never throws: `onClosed` reports failures. */
export type Connect = (handler: ByteStreamHandler) => ByteStream;

/** What a client needs; see {@link ClientContextOptions}. */
export interface ClientContext {
  /** Opens a stream to the server. */
  readonly connect: Connect;
  /** Gives the encoded node for the first request of the next stream. */
  readonly node: () => Uint8Array;
  /** {@link ClientContextOptions.clock}, or the clock of the machine. */
  readonly clock: Clock;
  /** {@link ClientContextOptions.random}, or `Math.random`. */
  readonly random: () => number;
  /** {@link ClientContextOptions.later}, or `queueMicrotask`. */
  readonly later: (callback: () => void) => void;
  /** {@link ClientContextOptions.descriptor}, or one that knows no type. */
  readonly descriptor: (typeUrl: string) => ResourceType | undefined;
  /** {@link ClientContextOptions.backoff}, or none. */
  readonly backoff: BackoffOptions;
  /** All limits, the defaults filled in. */
  readonly limits: ClientLimits;
  /** {@link ClientContextOptions.fetchMs}, the default filled in. */
  readonly fetchMs: number;
  /** {@link ClientContextOptions.timeoutIsTransient}, or false. */
  readonly timeoutIsTransient: boolean;
  /** {@link ClientContextOptions.quietMs}, the default filled in. */
  readonly quietMs: number;
  /** {@link ClientContextOptions.idleMs}, the default filled in. */
  readonly idleMs: number;
  /** {@link ClientContextOptions.dropRejected}, or false. */
  readonly dropRejected: boolean;
  /** {@link ClientContextOptions.keepRemoved}, or false. */
  readonly keepRemoved: boolean;
  /** {@link ClientContextOptions.rate}. undefined: no limit. */
  readonly rate: ClientContextOptions["rate"];
  /** {@link ClientContextOptions.onEvent}. undefined: no listener. */
  readonly emit: ((event: ClientEvent) => void) | undefined;
}

/** Options of {@link createClientContext}. Only `connect` and `node` have to be given. */
export interface ClientContextOptions {
  /** Opens a stream to the server. A client of several servers has one of these for each (C-GRPC-6). */
  readonly connect: Connect;
  /** The encoded `envoy.config.core.v3.Node`, sent with the first request of each stream (C-NODE-1), or what gives it. */
  readonly node: Uint8Array | (() => Uint8Array);
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Calls back when this turn is over, so that its subscriptions become one request (C-SUB-10). Default: `queueMicrotask`. */
  readonly later?: (callback: () => void) => void;
  /** The data of a type: full state, where its name stands. Default: those of `ResourceType`. */
  readonly descriptor?: (typeUrl: string) => ResourceType | undefined;
  /** Default: as gRPC waits. */
  readonly backoff?: BackoffOptions;
  /** Overrides of {@link defaultClientLimits}. */
  readonly limits?: Partial<ClientLimits>;
  /** Milliseconds after which what has not come does not exist (C-MISS-4). 0: never. Default: 15,000, or 30,000 with `timeoutIsTransient` (C-GRPC-10). */
  readonly fetchMs?: number;
  /** What has not come in time is UNAVAILABLE for now instead of missing: server feature `resource_timer_is_transient_error` (C-GRPC-10). Default: false. */
  readonly timeoutIsTransient?: boolean;
  /** Milliseconds without a new member after which a glob or wildcard counts as complete (C-GLOB-9). Default: 200. */
  readonly quietMs?: number;
  /** Milliseconds after which a stream without subscriptions is ended (C-STREAM-14). `Infinity`: it stays. Default: 10,000. */
  readonly idleMs?: number;
  /** A name whose new state is rejected goes, instead of keeping the state before: server feature `fail_on_data_errors` (C-GRPC-9). Default: false. */
  readonly dropRejected?: boolean;
  /** A name that is removed, or has an error of the data, stays as it is, with the error next to it, as gRPC does without `fail_on_data_errors` (C-GRPC-9). Members of globs and wildcards go all the same. Default: false, as C-REM-2 says. */
  readonly keepRemoved?: boolean;
  /** `rate_limit_settings`. Absent: no limit. */
  readonly rate?: {
    /** Requests that may be sent at once. */
    readonly burst: number;
    /** Requests per second, once the burst is used up. */
    readonly perSecond: number;
  };
  /** Called synchronously; must not throw. */
  readonly onEvent?: (event: ClientEvent) => void;
}

/** Fills in what is not given. */
export function createClientContext(options: ClientContextOptions): ClientContext {
  const { node, timeoutIsTransient = false } = options;
  return {
    connect: options.connect,
    node: typeof node === "function" ? node : () => node,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    later: options.later ?? queueMicrotask,
    descriptor: options.descriptor ?? (() => undefined),
    backoff: options.backoff ?? {},
    limits: { ...defaultClientLimits, ...options.limits },
    fetchMs: options.fetchMs ?? (timeoutIsTransient ? 30_000 : 15_000),
    timeoutIsTransient,
    quietMs: options.quietMs ?? 200,
    idleMs: options.idleMs ?? 10_000,
    dropRejected: options.dropRejected ?? false,
    keepRemoved: options.keepRemoved ?? false,
    rate: options.rate,
    emit: options.onEvent,
  };
}
