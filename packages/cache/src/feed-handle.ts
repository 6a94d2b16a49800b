import type { XdsError } from "@xdstp/core";

/** A feed that runs. */
export interface FeedHandle extends AsyncDisposable {
  /** Resolves when the feed has ended: with its error, or undefined if it was closed or had nothing more to say. Never rejects. */
  readonly ended: Promise<XdsError | undefined>;
  /** Stops it; what it gave is kept. Resolves when it has ended. */
  close(): Promise<void>;
}
