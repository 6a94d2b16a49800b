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

/** The context of a client; see {@link ClientContextOptions}. */
export interface ClientContext {
  /** Opens a stream to the server. */
  readonly connect: Connect;
  /** Returns the encoded node for the first request of the next stream. */
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
  /** All limits, with the defaults filled in. */
  readonly limits: ClientLimits;
  /** {@link ClientContextOptions.fetchMs}, or its default. */
  readonly fetchMs: number;
  /** {@link ClientContextOptions.timeoutIsTransient}, or false. */
  readonly timeoutIsTransient: boolean;
  /** {@link ClientContextOptions.quietMs}, or its default. */
  readonly quietMs: number;
  /** {@link ClientContextOptions.idleMs}, or its default. */
  readonly idleMs: number;
  /** {@link ClientContextOptions.isSilentIfCurrent}, or false. */
  readonly isSilentIfCurrent: boolean;
  /** {@link ClientContextOptions.dropRejected}, or false. */
  readonly dropRejected: boolean;
  /** {@link ClientContextOptions.keepRemoved}, or false. */
  readonly keepRemoved: boolean;
  /** {@link ClientContextOptions.rate}. undefined: no limit. */
  readonly rate: ClientContextOptions["rate"];
  /** {@link ClientContextOptions.onEvent}. undefined: no listener. */
  readonly emit: ((event: ClientEvent) => void) | undefined;
}

/** The options of {@link createClientContext}. Only `connect` and `node` are required. */
export interface ClientContextOptions {
  /**
   * Opens a stream to the server. A client of several servers has one context for each (C-GRPC-6).
   */
  readonly connect: Connect;
  /**
   * The encoded `envoy.config.core.v3.Node` for the first request of each stream (C-NODE-1), or a
   * function that returns it.
   */
  readonly node: Uint8Array | (() => Uint8Array);
  /** The clock of all timers. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Returns numbers from 0 up to, not including, 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Calls back after the current turn, so that all subscriptions of a turn are sent in one request
   * (C-SUB-10). Default: `queueMicrotask`.
   */
  readonly later?: (callback: () => void) => void;
  /**
   * Returns the descriptor of a type, for instance whether its responses are full states and which
   * field has the name. Default: the defaults of `ResourceType` for all types.
   */
  readonly descriptor?: (typeUrl: string) => ResourceType | undefined;
  /** The waits between streams. Default: those of gRPC. */
  readonly backoff?: BackoffOptions;
  /** Limits that replace those of {@link defaultClientLimits}. */
  readonly limits?: Partial<ClientLimits>;
  /**
   * Milliseconds after which a requested resource that has not come counts as missing (C-MISS-4).
   * 0: never. Default: 15,000, or 30,000 with `timeoutIsTransient` (C-GRPC-10).
   */
  readonly fetchMs?: number;
  /**
   * True if a resource that has not come in time is UNAVAILABLE instead of missing: server feature
   * `resource_timer_is_transient_error` (C-GRPC-10). Default: false.
   */
  readonly timeoutIsTransient?: boolean;
  /** Milliseconds without a new member after which a glob or wildcard counts as complete (C-GLOB-9). Default: 200. */
  readonly quietMs?: number;
  /**
   * Milliseconds after which a stream without subscriptions is ended (C-STREAM-14). `Infinity`: it
   * is never ended. Default: 10,000.
   */
  readonly idleMs?: number;
  /**
   * True if the server sends nothing to a client that has its current version, also for names, as
   * over REST (S-REST-3). The version is then left out while something is subscribed that it does
   * not cover (C-VER-6). Default: false, so only a collection gets nothing (S-RECON-7).
   */
  readonly isSilentIfCurrent?: boolean;
  /**
   * True if a name is removed if its new state is rejected, instead of keeping its previous state:
   * server feature `fail_on_data_errors` (C-GRPC-9). Default: false.
   */
  readonly dropRejected?: boolean;
  /**
   * True if a name that the server removes, or that has an error of the data, stays cached with the
   * error next to it, as in gRPC without `fail_on_data_errors` (C-GRPC-9). Members of globs and
   * wildcards are removed in any case. Default: false, as in C-REM-2.
   */
  readonly keepRemoved?: boolean;
  /** The limit on requests, as `rate_limit_settings` has it. Absent: no limit. */
  readonly rate?: {
    /** The number of requests that may be sent at once. */
    readonly burst: number;
    /** Requests per second, once the burst is used up. */
    readonly perSecond: number;
  };
  /** Receives events. Called synchronously; must not throw. Default: no listener. */
  readonly onEvent?: (event: ClientEvent) => void;
}

/** Creates the context of a client, with the defaults filled in. */
export function createClientContext(options: ClientContextOptions): ClientContext {
  const { node, timeoutIsTransient = false } = options;
  return {
    connect: options.connect,
    node: typeof node === "function" ? node : () => node,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    // Called as a function of its own: browsers reject it as a method of another object.
    later:
      options.later ??
      ((callback) => {
        queueMicrotask(callback);
      }),
    descriptor: options.descriptor ?? (() => undefined),
    backoff: options.backoff ?? {},
    limits: { ...defaultClientLimits, ...options.limits },
    fetchMs: options.fetchMs ?? (timeoutIsTransient ? 30_000 : 15_000),
    timeoutIsTransient,
    quietMs: options.quietMs ?? 200,
    idleMs: options.idleMs ?? 10_000,
    isSilentIfCurrent: options.isSilentIfCurrent ?? false,
    dropRejected: options.dropRejected ?? false,
    keepRemoved: options.keepRemoved ?? false,
    rate: options.rate,
    emit: options.onEvent,
  };
}
