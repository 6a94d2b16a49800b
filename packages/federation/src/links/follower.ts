import { isLate, type Interest, type Timer, type XdsError } from "@xdstp/core";
import type { XdstpLocator } from "@xdstp/uri";

import type { Ask, RedirectFollower, RedirectPlace } from "../routes/route.ts";
import { Choice, type Hop, type LinkedResource, type Outcome, type Step } from "./outcome.ts";

/** What a follower follows. */
export interface Followed {
  readonly typeUrl: string;
  /** As what it is delivered, and for whom. */
  readonly interest: Interest;
  /** A locator with directives; a name that leads elsewhere, which readers ask for; a member of a glob with alternatives. */
  readonly start: XdstpLocator | RedirectPlace | GlobMember;
}

/** One member of a side of a glob with alternatives: where it is found, and the way there from the name that it is delivered under. */
export interface GlobMember {
  readonly side: MemberSide;
  readonly ask: Ask;
  readonly steps: readonly Step[];
  readonly hops: readonly Hop[];
}

/** A version that a reader has rejected, and why. */
export interface RejectedVersion {
  readonly version: string;
  readonly error: XdsError;
}

/** The side of a glob that has a member. */
export interface MemberSide {
  readonly glob: { readonly asked: readonly Interest[] };
  /** Its members are those that are delivered. */
  readonly isInUse: boolean;
  /** Whether a follower is still that of a member. */
  has(follower: Follower, ask: Ask): boolean;
  /** Called when the result for a member is known. */
  note(follower: Follower, ask: Ask): void;
}

/** All followers, as one of them knows them. */
export interface FollowerList {
  touch(follower: Follower): void;
  readersChanged(follower: Follower): void;
  end(follower: Follower): void;
}

/** Up to this number of steps of the way are remembered: twice the steps of one search. Servers decide where the way leads. */
const MAX_CHOICES = 64;

/** One name that leads elsewhere, as long as it has subscribers. */
export class Follower implements Followed, RedirectFollower {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly start: Followed["start"];
  /** By what readers ask for a name with directives: one interest for each set of parameters (TP2), and one choice for all of them. */
  asked: readonly Interest[];
  /** Subscriptions on the way. */
  asks: ReadonlySet<Ask> = new Set();
  /** Authorities on the way without known servers, or not yet known ones. */
  unknown: readonly string[] = [];
  outcome: Outcome = { state: "pending", hops: [] };
  /** What has been delivered, by variant. */
  readonly delivered: Map<string, LinkedResource> = new Map<string, LinkedResource>();
  /** What was rejected last, by variant; it is not delivered again. */
  readonly rejected: Map<string, RejectedVersion> = new Map<string, RejectedVersion>();
  /** The version of what was found last that cannot be read. */
  unreadable: string | undefined;
  /** Where what is delivered was found. */
  source: Ask | undefined;
  /** What came before it stands under its name. */
  stands = false;
  /** What is delivered is not what it has found itself. */
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

  /** Of a glob with alternatives. */
  get member(): GlobMember | undefined {
    return "side" in this.start ? this.start : undefined;
  }

  /** Something is cached under its name. */
  get shows(): boolean {
    return this.stands || this.delivered.size > 0;
  }

  /** What is delivered was removed where it was found, as far as is known. */
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

  /** Something on the way has changed. */
  touch(): void {
    this.#list.touch(this);
  }

  /** Others ask for it than before. */
  readersChanged(): void {
    this.#list.readersChanged(this);
  }

  /** It has no subscribers any more, or leads nowhere else. */
  end(): void {
    this.#list.end(this);
  }

  /** Which of two locators is in use, at one place of the way. */
  choice(id: string): Choice {
    const choice = this.#choices.get(id) ?? new Choice();
    this.#choices.delete(id);
    this.#choices.set(id, choice);
    const [oldest] = this.#choices.keys();
    if (this.#choices.size > MAX_CHOICES && oldest !== undefined) this.#choices.delete(oldest);
    return choice;
  }

  /** What another one has delivered under the same name is its own to replace. */
  takeOver({ delivered, source }: Follower): void {
    this.source = source;
    for (const [id, linked] of delivered) this.delivered.set(id, linked);
    delivered.clear();
    this.hasTakenOver = true;
  }
}
