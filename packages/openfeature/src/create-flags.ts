import type { HttpListener, MethodRouter } from "@xdstp/grpc/server";

import { createFlagSource } from "./flag-source.ts";
import { createFlagSync } from "./flag-sync.ts";
import type { FlagsOptions } from "./flags-options.ts";
import type { FlagCounters, FlagsStatus } from "./flags-status.ts";
import { createOfrepRoute } from "./ofrep-route.ts";

/** The services of {@link createFlags}; one can be used without the other. */
export interface Flags {
  /** Serves `flagd.sync.v1`: the option `routes` of `createServer` of `@xdstp/server`. */
  readonly routes: (router: MethodRouter) => void;
  /** Serves OFREP: for the option `http` of `createServer`, before listeners of other paths. */
  readonly http: HttpListener;
  /**
   * Follows the collection in the options until the signal aborts, also while no caller uses it, so
   * that a resource which is not valid is reported at once.
   */
  follow(signal: AbortSignal): void;
  /** Returns the counters of both services, for metrics. */
  status(): FlagsStatus;
}

/**
 * Creates the services that OpenFeature uses, with flags from the resources of a collection. A
 * collection is followed while callers use it, and for `keepMs` after.
 * Throws an XdsError with INVALID_ARGUMENT if `collection` is not an xdstp name of the type of the
 * reader.
 */
export function createFlags(options: FlagsOptions): Flags {
  const source = createFlagSource(options);
  const counters: FlagCounters = { answered: new Map(), eventStreams: 0, syncStreams: 0 };
  return {
    routes: createFlagSync(source, counters, options.syncContext),
    http: createOfrepRoute(source, counters, options),
    follow: (signal) => {
      source.follow(signal);
    },
    status: () => ({ ...counters, collections: source.collections }),
  };
}
