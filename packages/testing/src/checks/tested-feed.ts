import type { Resource, ResourceFeed } from "@xdstp/core";
import type { Steps } from "./contract-case.ts";

/** A feed, and the place that it reads. The place is empty at first. */
export interface TestedFeed extends Steps {
  /** The feed. It has not run yet. */
  readonly feed: ResourceFeed;
  /** The type URL under which the resources are subscribed. */
  readonly typeUrl: string;
  /**
   * Returns the name of a resource, as the feed spells it.
   *
   * @param id - Lower-case letters and digits
   */
  nameOf(id: string): string;
  /** Puts a resource in the place, or replaces it. `state` is a whole number from 1 on, and belongs into the content. */
  put(id: string, state: number): void | Promise<void>;
  /** Returns the `state` with which a resource was put. */
  stateOf(resource: Resource): number;
  /**
   * An interest that covers all names of `nameOf`: a glob, or `*`. Absent: such interests are not
   * checked.
   */
  readonly glob?: string;
  /** Removes a resource from the place. Absent: removals are not checked. */
  remove?(id: string): void | Promise<void>;
  /** Makes the place unreachable for the feed; `put` still works. Absent, like `restore`: outages are not checked. */
  cut?(): void | Promise<void>;
  /** Makes the place reachable again, with what was put meanwhile. */
  restore?(): void | Promise<void>;
  /** Releases what belongs to the place. The signal of `run` is aborted before. Absent: there is nothing to release. */
  close?(): void | Promise<void>;
}
