import { type Clock, type ResourceSource, systemClock } from "@xdstp/core";
import { createFrameCache, type FrameCache } from "../delivery/frame-cache.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { createLimitCounts, type LimitCounts, defaultLimits, type StreamLimits } from "./limits.ts";
import type { Quirk } from "./quirks.ts";
import { createRepairs, type Repairs } from "./repairs.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { createStuckWatch, type StuckWatch } from "./stuck-watch.ts";
import type { StreamEvent } from "./stream-event.ts";

/** The context that all streams of one server share. */
export interface ServerContext {
  /** The source that is served. */
  readonly source: ResourceSource;
  /** The clock of all timers. */
  readonly clock: Clock;
  /** Serves the streams in slices of some hundred per turn. */
  readonly scheduler: Scheduler;
  /** Encoded responses that streams share. */
  readonly frames: FrameCache;
  /** All limits, with the defaults filled in. */
  readonly limits: StreamLimits;
  /** The number of times that each limit was reached. */
  readonly limited: LimitCounts;
  /** The differences of single clients from the rules. */
  readonly quirks: readonly Quirk[];
  /** Sends the newest state again to clients that do not answer (S-ACK-16). */
  readonly repairs: Repairs;
  /** Sends heartbeats for resources with a TTL (S-TTL-4). */
  readonly heartbeats: Heartbeats;
  /** Ends streams without an answer (S-ACK-17). undefined: no stream is ended for that. */
  readonly stuck: StuckWatch | undefined;
  /** Ends the waits for answers after `orderMs` (S-ORD-4). */
  readonly waits: Repairs;
  /** `control_plane.identifier` of each response (B-NODE-9). Empty: none is sent. */
  readonly controlPlane: string;
  /** A listener for events. It is called synchronously, and must not throw. */
  readonly emit: ((event: StreamEvent) => void) | undefined;
}

/**
 * The options of {@link createServerContext}, for servers of a byte stream of their own. Only
 * `source` is required.
 */
export interface ServerContextOptions {
  /** The source that is served: a cache, or a filter over one. */
  readonly source: ResourceSource;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Serves the streams. Default: slices of 256 streams per turn. */
  readonly scheduler?: Scheduler;
  /** Limits that replace those of {@link defaultLimits}. */
  readonly limits?: Partial<StreamLimits>;
  /** The differences of single clients from the rules. Default: none. */
  readonly quirks?: readonly Quirk[];
  /** `control_plane.identifier` of each response (B-NODE-9). Default: none is sent. */
  readonly controlPlane?: string;
  /** Receives events. Called synchronously; must not throw. Default: no listener. */
  readonly onEvent?: (event: StreamEvent) => void;
}

/** Creates the context of a server, with the defaults filled in. */
export function createServerContext(options: ServerContextOptions): ServerContext {
  const clock = options.clock ?? systemClock;
  const limits = { ...defaultLimits, ...options.limits };
  const scheduler = options.scheduler ?? createScheduler();
  return {
    source: options.source,
    clock,
    limits,
    limited: createLimitCounts(),
    scheduler,
    heartbeats: createHeartbeats(clock, scheduler),
    stuck: createStuckWatch(clock, limits.endStuckMs),
    frames: createFrameCache(),
    quirks: options.quirks ?? [],
    repairs: createRepairs(clock, limits.repairMs),
    waits: createRepairs(clock, limits.orderMs),
    controlPlane: options.controlPlane ?? "",
    emit: options.onEvent,
  };
}
