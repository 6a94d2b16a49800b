import type { NameOptions } from "../name-options.ts";
import type { Watch } from "../watch.ts";
import type { Configuration, PartTypes } from "./configuration.ts";
import type { Gap } from "./graph.ts";

/** A watch on a composed configuration: gives the newest one that is complete. */
export interface Walk<R, P extends PartTypes> extends Watch<Configuration<R, P>> {
  /** What it waits for now, also while nothing is wrong: for whoever shows how a start goes on. */
  readonly pending: readonly Gap[];
}

/** Options of a walk. */
export interface WalkOptions<P extends PartTypes> extends NameOptions {
  /**
   * The types that are followed, under words of your own; what comes of them is decoded at once, and rejected where it cannot be (C-ACK-5).
   * Default: all types that payloads refer to, undecoded. What a payload names of other types is not part of the configuration.
   */
  readonly types?: P;
  /** Names that are not followed though their type is: clusters of a bootstrap, for one. It must not throw. Default: none. */
  readonly skip?: (typeUrl: string, name: string) => boolean;
  /** Milliseconds after which the first configuration goes without what has not come, and says so in `missing` (C-WARM-3; Envoy's `initial_fetch_timeout` is 15,000). Default: 0, for ever: complete configurations only. */
  readonly initialFetchMs?: number;
  /**
   * A resource with a ConfigSource that says neither `ads` nor `self` is rejected, as by gRPC (C-GRPC-18).
   * Default: false. Names of such a ConfigSource are requested there, if the client has `sourceOf`; else the name is in `pending`.
   */
  readonly onlyAds?: boolean;
  /** How many names there may be in it; with more the last one stays in force. Default: 100,000. */
  readonly maxResources?: number;
  /** Ends it: a loop over it throws the reason. */
  readonly signal?: AbortSignal;
}
