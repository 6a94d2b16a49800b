import type { Entry, Topic } from "@xdstp/core";
import type { Exchange } from "./exchange.ts";

/** One type on one stream, for reports on single names and waits for them; made on demand, and a view of the live state. */
export interface TypeView {
  /** The type URL. */
  readonly typeUrl: string;
  /** What was sent, accepted and rejected. */
  readonly exchange: Readonly<Exchange>;
  /** What is subscribed: exact names, globs, the wildcard. */
  readonly topics: readonly Topic[];
  /** Revision up to which the client has accepted all that it was to have. */
  readonly acceptedUpTo: number;
  /** How a client is notified that a name was removed: it is `said`; the name is `absent` from the next full state; `never`. */
  readonly removals: "said" | "absent" | "never";
  /** Whether this entry of one of the topics is still to be sent. */
  isPending(topic: Topic, entry: Entry): boolean;
}
