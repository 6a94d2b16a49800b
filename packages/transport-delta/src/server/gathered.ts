import type { Entry } from "@xdstp/core";
import type { Origin, Rejected } from "@xdstp/protocol/server";

/** What is pending on a type, taken as of now. */
export interface Gathered {
  /** One entry per name; the array of a topic itself where only one contributes, so that streams share its frames. */
  readonly entries: readonly Entry[];
  readonly origin: Origin;
  /** Revision from which to start again if it is rejected. */
  readonly base: number;
  /** Some of it answers a request, and may be older than that. */
  readonly asked: boolean;
  /** Revision of the oldest state that the client may have of a name whose removal waited before. It may exist again. */
  readonly heldBase: number;
  /** The author's label, where one topic contributed and has one: it replaces the content version. */
  readonly label: string | undefined;
  /** Of all that the client has with it: the content version is made of it (S-VER-3). */
  readonly hash: number;
  /** What was rejected and starts again in it. */
  readonly rejected?: Rejected;
}
