import { type Clock, type ResourceSource, systemClock } from "@xdstp/core";
import { createFrameCache, type FrameCache } from "../delivery/frame-cache.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { createLimitCounts, type LimitCounts, defaultLimits, type StreamLimits } from "./limits.ts";
import type { Quirk } from "./quirks.ts";
import { createRepairs, type Repairs } from "./repairs.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { createStuckWatch, type StuckWatch } from "./stuck-watch.ts";
import type { StreamEvent } from "./stream-event.ts";

/** What all streams of one server share. */
export interface ServerContext {
  /** What is served. */
  readonly source: ResourceSource;
  /** The clock of all timers. */
  readonly clock: Clock;
  /** Serves the streams in slices. */
  readonly scheduler: Scheduler;
  /** Encoded responses that streams share. */
  readonly frames: FrameCache;
  /** All limits, the defaults filled in. */
  readonly limits: StreamLimits;
  /** How often the limits were met. */
  readonly limited: LimitCounts;
  /** The table of what single clients do otherwise than the rules. */
  readonly quirks: readonly Quirk[];
  /** Sends the newest state again to clients that do not answer (S-ACK-16). */
  readonly repairs: Repairs;
  /** Keeps resources with a TTL alive at the clients (S-TTL-4). */
  readonly heartbeats: Heartbeats;
  /** Absent: no stream ends because an answer is missing. */
  readonly stuck: StuckWatch | undefined;
  /** Who waits for answers before more is sent (S-ORD-4). */
  readonly waits: Repairs;
  /** `control_plane.identifier` of each response (B-NODE-9). Empty: none. */
  readonly controlPlane: string;
  /** A listener for events; called synchronously, must not throw. */
  readonly emit: ((event: StreamEvent) => void) | undefined;
}

/** Options of {@link createServerContext}; who serves a byte stream of their own gives them. Only `source` has to be given. */
export interface ServerContextOptions {
  /** What is served: a cache, or a filter over one. */
  readonly source: ResourceSource;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Default: slices of 256 streams per turn. */
  readonly scheduler?: Scheduler;
  /** Overrides of {@link defaultLimits}. */
  readonly limits?: Partial<StreamLimits>;
  /** Default: none. */
  readonly quirks?: readonly Quirk[];
  /** `control_plane.identifier` of each response (B-NODE-9). Default: none. */
  readonly controlPlane?: string;
  /** Called synchronously; must not throw. Default: no listener. */
  readonly onEvent?: (event: StreamEvent) => void;
}

/** Fills in what is not given. */
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
