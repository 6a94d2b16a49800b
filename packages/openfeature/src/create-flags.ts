import type { HttpListener, MethodRouter } from "@xdstp/grpc/server";

import { createFlagSource } from "./flag-source.ts";
import { createFlagSync } from "./flag-sync.ts";
import type { FlagsOptions } from "./flags-options.ts";
import { createOfrepRoute } from "./ofrep-route.ts";

/** The services of {@link createFlags}; one can be used without the other. */
export interface Flags {
  /** Serves `flagd.sync.v1`: the option `routes` of `createServer` of `@xdstp/server`. */
  readonly routes: (router: MethodRouter) => void;
  /** Serves OFREP: for the option `http` of `createServer`, before listeners of other paths. */
  readonly http: HttpListener;
}

/**
 * Creates the services that OpenFeature uses, with flags from the resources of a collection. A
 * collection is followed while callers use it, and for `keepMs` after.
 * Throws an XdsError with INVALID_ARGUMENT if `collection` is not an xdstp name of the type of the
 * reader.
 */
export function createFlags(options: FlagsOptions): Flags {
  const source = createFlagSource(options);
  return {
    routes: createFlagSync(source, options.syncContext),
    http: createOfrepRoute(source, options),
  };
}
