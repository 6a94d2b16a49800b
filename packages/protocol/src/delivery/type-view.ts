import type { Entry, Topic } from "@xdstp/core";
import type { Holds } from "../order/hold.ts";
import type { Exchange } from "./exchange.ts";
import type { NotSent } from "./not-sent.ts";

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
  /** Revision of the oldest state that the client may have of a name whose removal waits; Infinity: no removal waits (S-ORD-3). */
  readonly heldBase: number;
  /** The names that wait for what they refer to, by canonical key (S-ORD-4). */
  readonly heldBack: Holds;
  /** A response waits as a whole for the types that this one follows (S-ORD-2, S-ORD-4). */
  readonly waitsAsWhole: boolean;
  /** Whether the client has accepted nothing yet of one of the topics. */
  isUnaccepted(topic: Topic): boolean;
  /** Whether the client may have a name from an earlier stream. */
  mayHaveFromBefore(name: string): boolean;
  /** Returns why an entry cannot be sent to this client at all, at the cost of encoding it. undefined: it can. */
  unsendable(entry: Entry): NotSent | undefined;
  /** Whether this entry of one of the topics is still to be sent. */
  isPending(topic: Topic, entry: Entry): boolean;
}
