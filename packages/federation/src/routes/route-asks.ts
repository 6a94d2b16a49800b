import { type Interest, InterestMap } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import {
  isUsed,
  isWanted,
  type Asked,
  type AskFollower,
  type AskSide,
  type AskState,
} from "./ask.ts";

/** What the asks of a route need of it. */
export interface RouteAsksHost<Ask extends AskState> {
  /** A new ask without users. */
  create(asked: Asked): Ask;
  /** What came of an ask that was answered under its own name until now. */
  recall(ask: Ask): void;
  /** Servers have to be asked for it from now on, or not any more: `ask.wanted`. */
  turned(ask: Ask): void;
  /** Its users have changed, or it has none any more. */
  changed(ask: Ask): void;
}

/** The subscriptions of a route, and the users of each: readers, followers, gathered collections. */
export class RouteAsks<Ask extends AskState> extends InterestMap<Ask> {
  readonly #host: RouteAsksHost<Ask>;
  readonly #followed = new Set<Ask>();
  /** Those that lost a user in this turn. */
  readonly #loose = new Set<Ask>();

  constructor(host: RouteAsksHost<Ask>) {
    super();
    this.#host = host;
  }

  /** What is a step on the way to something else. */
  get followed(): ReadonlySet<Ask> {
    return this.#followed;
  }

  /** Until the end of the turn also those without followers: they may be used again. */
  isFollowed(ask: Ask): boolean {
    return this.#followed.has(ask);
  }

  /** The ask of an interest, or a new one without users. */
  open(typeUrl: string, interest: Interest, authority: string | null): Ask {
    const key = nameKey(interest.name);
    const known = this.get(typeUrl, interest, key);
    if (known !== undefined) return known;
    const ask = this.#host.create({ typeUrl, interest, key, authority });
    this.set(typeUrl, interest, key, ask);
    return ask;
  }

  /** Readers ask for it by its own name, or do not any more. */
  direct(ask: Ask, isDirect: boolean): void {
    ask.direct = isDirect;
    this.#update(ask);
  }

  follow(ask: Ask, follower: AskFollower): void {
    if (ask.followers.has(follower)) return;
    if (ask.followers.size === 0) this.#host.recall(ask);
    ask.followers.add(follower);
    this.#update(ask);
  }

  unfollow(ask: Ask, follower: AskFollower): void {
    if (ask.followers.delete(follower)) this.#loosen(ask);
  }

  gather(ask: Ask, side: AskSide): void {
    ask.sides.add(side);
    this.#update(ask);
  }

  ungather(ask: Ask, side: AskSide): void {
    if (ask.sides.delete(side)) this.#loosen(ask);
  }

  /** A subscription that returns before the turn is over never ended: a server would not send it again. */
  #loosen(ask: Ask): void {
    this.#loose.add(ask);
    if (this.#loose.size === 1)
      queueMicrotask(() => {
        this.#sweep();
      });
  }

  #sweep(): void {
    const loose = [...this.#loose];
    this.#loose.clear();
    for (const ask of loose) {
      if (ask.followers.size === 0) forgetKept(ask);
      this.#update(ask);
    }
  }

  #update(ask: Ask): void {
    const wanted = isWanted(ask);
    if (ask.followers.size + ask.sides.size > 0) this.#followed.add(ask);
    else this.#followed.delete(ask);
    if (wanted !== ask.wanted) {
      ask.wanted = wanted;
      this.#host.turned(ask);
    }
    if (!isUsed(ask)) this.#drop(ask);
    this.#host.changed(ask);
  }

  /** Another ask of the same interest may have taken its place in this turn. */
  #drop(ask: Ask): void {
    const { typeUrl, interest, key } = ask;
    if (this.get(typeUrl, interest, key) === ask) this.delete(typeUrl, interest, key);
  }
}

function forgetKept(ask: AskState): void {
  ask.kept.clear();
  ask.missing = undefined;
}
