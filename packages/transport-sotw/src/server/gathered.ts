import type { Entry } from "@xdstp/core";
import type { Origin, Rejected } from "@xdstp/protocol/server";

/** What is pending on a type, taken as of now. */
export interface Gathered {
  /** One entry per name; an array that streams in the same state have in common, where there is one. */
  readonly entries: readonly Entry[];
  /** What of them is new or changed: what waits for it is sent again (S-WARM-1). */
  readonly fresh: readonly Entry[];
  readonly origin: Origin;
  /** Revision from which to start again if it is rejected. */
  readonly base: number;
  /** Some of it answers a request, and may be older than that. */
  readonly asked: boolean;
  /** Revision of the oldest state that the client may have of a name whose removal waited before. It may exist again. */
  readonly heldBase: number;
  /** The `version_info`. */
  readonly version: string;
  /** Something is new to this client, so that a response is due even if it holds the same version, or none at all. */
  readonly due: boolean;
  /** What was rejected and starts again in it. Of a full state the version tells. */
  readonly rejected?: Rejected;
}
