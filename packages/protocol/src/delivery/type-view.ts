import type { Entry, Topic } from "@xdstp/core";
import type { Holds } from "../order/hold.ts";
import type { Exchange } from "./exchange.ts";
import type { NotSent } from "./not-sent.ts";

/**
 * One type on one stream, for reports on single names and for waits. It is created on demand, and
 * reads the live state.
 */
export interface TypeView {
  /** The type URL. */
  readonly typeUrl: string;
  /** The requests and responses of the type. */
  readonly exchange: Readonly<Exchange>;
  /** The topics of the subscriptions: exact names, globs, the wildcard. */
  readonly topics: readonly Topic[];
  /** The revision up to which the client has accepted everything that it is to have. */
  readonly acceptedUpTo: number;
  /**
   * The way in which a client learns that a name was removed. `said`: the response names it.
   * `absent`: the next full state does not have it. `never`: it does not learn it.
   */
  readonly removals: "said" | "absent" | "never";
  /**
   * The last moment at which no response was unanswered or rejected, no name was waiting and no
   * removal waited. The client then had everything as of `revision`. `isNewest`: it has accepted
   * nothing since.
   */
  readonly settled: { readonly revision: number; readonly isNewest: boolean };
  /** The names that wait for what they refer to, by canonical key (S-ORD-4). */
  readonly heldBack: Holds;
  /** True if a response waits as a whole for the types that this one follows (S-ORD-2, S-ORD-4). */
  readonly waitsAsWhole: boolean;
  /** Returns true if the client has accepted nothing yet of one of the topics. */
  isUnaccepted(topic: Topic): boolean;
  /** Returns true if the client may have a name from an earlier stream. */
  mayHaveFromBefore(name: string): boolean;
  /**
   * Returns why an entry cannot be sent to this client at all. undefined: it can. Costs as much as
   * encoding the entry.
   */
  unsendable(entry: Entry): NotSent | undefined;
  /** Returns true if this entry of one of the topics is still to be sent. */
  isPending(topic: Topic, entry: Entry): boolean;
}
