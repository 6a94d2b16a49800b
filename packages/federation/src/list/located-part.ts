import type { Resource, Topic, Watcher, XdsError } from "@xdstp/core";

import {
  failure,
  type FollowListOptions,
  type Holding,
  holdingOf,
  type ListMember,
  type ListPart,
  shown,
} from "./list-member.ts";

/** The parameters of a located member. */
export interface LocatedOptions {
  readonly name: string;
  readonly typeUrl: string;
  /** The printed locator. */
  readonly locator: string;
  readonly topic: Topic;
  /**
   * The previous member of the same name. If it had a resource, it stays until something is known
   * of the new one (C-LIST-8).
   */
  readonly before: ListMember | undefined;
  /** Called when the member may have changed. */
  readonly onWake: (part: ListPart) => void;
  /** Called when the member is no longer subscribed. */
  readonly onEnd: (() => void) | undefined;
  /**
   * Returns the reason why a resource that was cached before it was subscribed here cannot be used.
   */
  readonly faultOf: FollowListOptions["faultOf"];
  readonly restoredAt: FollowListOptions["restoredAt"];
}

/** A member that is subscribed by its locator (C-LIST-5), until `end`. */
export class LocatedPart implements ListPart, Watcher {
  readonly locator: string;
  readonly #options: LocatedOptions;
  readonly #unfit: { readonly resource: Resource; readonly error: XdsError } | undefined;
  #before: ListMember | undefined;
  #member: ListMember | undefined;
  #settled = false;
  #woken = true;

  constructor(options: LocatedOptions) {
    const { topic, faultOf, name, locator, before } = options;
    this.#options = options;
    this.locator = locator;
    this.#before = before?.state === "held" ? before : undefined;
    this.#member = before;
    topic.watch(this);
    const resource = topic.members()[0]?.resource;
    const error = resource === undefined ? undefined : faultOf?.(resource, name);
    if (resource !== undefined && error !== undefined) this.#unfit = { resource, error };
    // Reads it now, so that not all members of a long list are read at once later.
    this.#look();
  }

  get settled(): boolean {
    this.#look();
    return this.#settled;
  }

  get member(): ListMember {
    return this.#look();
  }

  wake(): void {
    this.#woken = true;
    this.#options.onWake(this);
  }

  end(): void {
    this.#options.topic.unwatch(this);
    this.#options.onEnd?.();
  }

  #look(): ListMember {
    const known = this.#member;
    if (known !== undefined && !this.#woken) return known;
    this.#woken = false;
    const now = this.#now();
    this.#settled = now.state !== "pending";
    return (this.#member = shown(known, this.#options.name, this.#bridged(now)));
  }

  #now(): Holding {
    const { topic, typeUrl, restoredAt } = this.#options;
    const now = holdingOf(topic, typeUrl, restoredAt);
    return now.resource !== undefined && now.resource === this.#unfit?.resource
      ? failure(this.#unfit.error)
      : now;
  }

  #bridged(now: Holding): Holding {
    if (this.#before === undefined || !isPassing(now)) {
      this.#before = undefined;
      return now;
    }
    const { state, resource, version, restoredAt } = this.#before;
    return {
      state,
      version,
      ...(resource !== undefined && { resource }),
      ...(restoredAt !== undefined && { restoredAt }),
      ...(now.error !== undefined && { error: now.error }),
    };
  }
}

/** Returns true for a state that does not report anything about the resource itself (C-ERR-4). */
function isPassing({ state, error }: Holding): boolean {
  return state === "pending" || (state === "failed" && error?.code !== "PERMISSION_DENIED");
}
