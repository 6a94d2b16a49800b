import { isLate, type Interest, type Timer, type XdsError } from "@xdstp/core";
import type { XdstpLocator } from "@xdstp/uri";

import type { Ask, RedirectFollower, RedirectPlace } from "../routes/route.ts";
import { Choice, type Hop, type LinkedResource, type Outcome, type Step } from "./outcome.ts";

/** The start of a follower, and the name under which it delivers. */
export interface Followed {
  readonly typeUrl: string;
  /** The name under which it delivers, and the parameters of its readers. */
  readonly interest: Interest;
  /**
   * A locator with directives, a redirect under a name that readers request, or a member of a glob
   * with alternatives.
   */
  readonly start: XdstpLocator | RedirectPlace | GlobMember;
}

/**
 * One member of a side of a glob with alternatives: the subscription that finds it, and the way
 * there from the name under which it is delivered.
 */
export interface GlobMember {
  readonly side: MemberSide;
  readonly ask: Ask;
  readonly steps: readonly Step[];
  readonly hops: readonly Hop[];
}

/** A version that a reader has rejected, and the reason. */
export interface RejectedVersion {
  readonly version: string;
  readonly error: XdsError;
}

/** The side of a glob that has a member. */
export interface MemberSide {
  readonly glob: { readonly asked: readonly Interest[] };
  /** True if the members of this side are delivered. */
  readonly isInUse: boolean;
  /** Returns true if a follower is still the one of a member. */
  has(follower: Follower, ask: Ask): boolean;
  /** Called when the result for a member is known. */
  note(follower: Follower, ask: Ask): void;
}

/** All followers, as one of them sees them. */
export interface FollowerList {
  touch(follower: Follower): void;
  readersChanged(follower: Follower): void;
  end(follower: Follower): void;
}

/**
 * The maximum number of choices that a follower remembers: twice the number of steps of one search.
 * It is limited because servers decide where the way leads.
 */
const MAX_CHOICES = 64;

/** Follows one name with redirects or directives, as long as the name has subscribers. */
export class Follower implements Followed, RedirectFollower {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly start: Followed["start"];
  /**
   * The interests of the readers of a name with directives: one for each set of parameters (TP2).
   * All share one choice of alternative.
   */
  asked: readonly Interest[];
  /** The subscriptions on the way. */
  asks: ReadonlySet<Ask> = new Set();
  /** Authorities on the way whose servers are not known, or not known yet. */
  unknown: readonly string[] = [];
  outcome: Outcome = { state: "pending", hops: [] };
  /** The delivered resources, by variant. */
  readonly delivered: Map<string, LinkedResource> = new Map<string, LinkedResource>();
  /** The last rejected versions, by variant. They are not delivered again. */
  readonly rejected: Map<string, RejectedVersion> = new Map<string, RejectedVersion>();
  /** The version of the last unreadable resource. */
  unreadable: string | undefined;
  /** The subscription that has found the delivered resource. */
  source: Ask | undefined;
  /** True if the resource that it replaces is still cached under its name. */
  stands = false;
  /** True if the delivered resources were taken over from another follower. */
  hasTakenOver = false;
  timer: Timer | undefined;
  readonly #list: FollowerList;
  readonly #choices = new Map<string, Choice>();

  constructor({ typeUrl, interest, start }: Followed, list: FollowerList) {
    this.#list = list;
    this.typeUrl = typeUrl;
    this.interest = interest;
    this.asked = [interest];
    this.start = start;
  }

  /** The member that it follows, if it belongs to a glob with alternatives. */
  get member(): GlobMember | undefined {
    return "side" in this.start ? this.start : undefined;
  }

  /** True if a resource is cached under its name. */
  get shows(): boolean {
    return this.stands || this.delivered.size > 0;
  }

  /** True if the delivered resource was removed at its source, as far as is known. */
  get isGone(): boolean {
    const { source } = this;
    return (
      source !== undefined &&
      this.asks.has(source) &&
      source.kept.size === 0 &&
      source.missing !== undefined &&
      !isLate(source.missing)
    );
  }

  /** Called when something on the way has changed. */
  touch(): void {
    this.#list.touch(this);
  }

  /** Called when its readers have changed. */
  readersChanged(): void {
    this.#list.readersChanged(this);
  }

  /** Called when it has no subscribers any more, or its name is no longer a redirect. */
  end(): void {
    this.#list.end(this);
  }

  /** Returns the choice between a locator and its alternative, at one place of the way. */
  choice(id: string): Choice {
    const choice = this.#choices.get(id) ?? new Choice();
    this.#choices.delete(id);
    this.#choices.set(id, choice);
    const [oldest] = this.#choices.keys();
    if (this.#choices.size > MAX_CHOICES && oldest !== undefined) this.#choices.delete(oldest);
    return choice;
  }

  /**
   * Takes over the resources that another follower has delivered under the same name, so that this
   * one replaces them.
   */
  takeOver({ delivered, source }: Follower): void {
    this.source = source;
    for (const [id, linked] of delivered) this.delivered.set(id, linked);
    delivered.clear();
    this.hasTakenOver = true;
  }
}
