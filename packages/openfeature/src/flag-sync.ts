import { XdsError } from "@xdstp/core";
import type { MethodCall, MethodRouter } from "@xdstp/grpc/server";

import type { FlagDocument } from "./flag-document.ts";
import { type FlagSource, longMs, type OpenFlags } from "./flag-source.ts";
import type { FlagCounters } from "./flags-status.ts";
import type { FlagsOptions } from "./flags-options.ts";
import { FlagSyncService } from "./gen/flagd/sync/v1/sync_pb.ts";

/**
 * Serves `flagd.sync.v1`, for providers of OpenFeature that evaluate flags in their process.
 *
 * The selector of a client is an xdstp name or glob; without one it gets the collection of the
 * source. Each change sends all flags of the collection, as this protocol has it.
 */
export function createFlagSync(
  source: FlagSource,
  counters: FlagCounters,
  syncContext: NonNullable<FlagsOptions["syncContext"]> = {},
): (router: MethodRouter) => void {
  const open = (method: string, selector: string, call: MethodCall): Promise<OpenFlags> =>
    source.open(call.peer, {
      path: `/flagd.sync.v1.FlagSyncService/${method}`,
      signal: call.signal,
      selector: call.requestHeader.get("flagd-selector") ?? selector,
    });
  return (router) => {
    router.service(FlagSyncService, {
      async *syncFlags({ selector }, call) {
        const { flags, signal, revoked, release } = await open("SyncFlags", selector, call);
        counters.syncStreams++;
        try {
          let known: FlagDocument | undefined;
          for (;;) {
            const next = await flags.next(known, longMs, signal);
            if (revoked?.aborted === true) throw accessRevoked();
            // A stream that ends with OK is not opened again by each provider.
            if (signal.aborted) throw closed();
            if (next === undefined || next === known) continue;
            known = next;
            yield { flagConfiguration: next.json, syncContext };
          }
        } finally {
          counters.syncStreams--;
          release();
        }
      },
      async fetchAllFlags({ selector }, call) {
        const { flags, signal, release } = await open("FetchAllFlags", selector, call);
        try {
          const document = await flags.next(undefined, source.limits.settleMs, signal);
          if (document === undefined) throw notSettled(flags.problem);
          return { flagConfiguration: document.json };
        } finally {
          release();
        }
      },
      getMetadata: () => ({ metadata: syncContext }),
    });
  };
}

/** The error of a stream whose server is closed; a client that has left does not see it. */
function closed(): XdsError {
  return new XdsError("UNAVAILABLE", "the server is shutting down");
}

/** The error of a stream whose caller may not see the flags any more. */
export function accessRevoked(): XdsError {
  return new XdsError("PERMISSION_DENIED", "access was revoked");
}

/** The error while nothing is known of a collection. `reason`: why, if that is known. */
export function notSettled(reason: string | undefined): XdsError {
  return new XdsError(
    "UNAVAILABLE",
    `the flags are not known yet${reason === undefined ? "" : `: ${reason}`}`,
  );
}
