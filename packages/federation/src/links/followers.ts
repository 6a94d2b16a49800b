import type { Clock, Committed, ResourceSink, Transaction, TypedInterest, XdsError } from "@xdstp/core";

import type { Ask } from "../routes/ask.ts";
import { Ambient } from "./ambient.ts";
import { deliver, noteDelivered, type Delivery } from "./deliver.ts";
import { Follower, type Followed } from "./follower.ts";
import { Search, type SearchHost } from "./search.ts";

/** What followers need of their federation. */
export interface FollowersHost extends SearchHost {
  readonly clock: Clock;
  /** By what readers ask for what is delivered. */
  interestsOf(follower: Follower): readonly TypedInterest[];
  /** Everybody has been looked at. */
  settled(): void;
}

/** A follower whose content a reader has refused. */
export interface RefusedLink {
  readonly follower: Follower;
  readonly error: XdsError;
}

/** All that lead elsewhere. What they follow is looked at anew when something of it has changed; the result is one transaction. */
export class Followers implements Iterable<Follower> {
  readonly #host: FollowersHost;
  readonly #sink: ResourceSink;
  readonly #ambient: Ambient;
  readonly #all = new Set<Follower>();
  readonly #dirty = new Set<Follower>();
  #scheduled = false;

  constructor(host: FollowersHost, sink: ResourceSink) {
    this.#host = host;
    this.#sink = sink;
    this.#ambient = new Ambient(sink);
  }

  [Symbol.iterator](): Iterator<Follower> {
    return this.#all.values();
  }

  add(followed: Followed): Follower {
    const follower = new Follower(followed);
    this.#all.add(follower);
    this.touch([follower]);
    return follower;
  }

  /** Nobody asks for it any more, or it leads nowhere else. */
  end(follower: Follower): void {
    this.#all.delete(follower);
    this.#dirty.delete(follower);
    follower.timer?.cancel();
    this.#ambient.set(follower, undefined, []);
    this.#release(follower, new Set(), follower.asks);
    follower.asks = new Set();
  }

  /** Something on the way has changed. */
  touch(followers: Iterable<Follower>): void {
    for (const follower of followers) this.#dirty.add(follower);
    if (this.#scheduled || this.#dirty.size === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.settle();
    });
  }

  /** What goes on being delivered has its time begin anew. */
  refresh(refresh: Transaction["refresh"]): void {
    if (refresh !== undefined && refresh.length > 0) void this.#sink.commit({ refresh });
  }

  /** Looks at all that may have changed, and delivers it. */
  settle(): readonly RefusedLink[] {
    const asked = new Map<Follower, Set<Ask>>();
    // While it is walked, more may be added.
    for (const follower of this.#dirty) {
      this.#dirty.delete(follower);
      if (this.#all.has(follower)) this.#look(follower, asked);
    }
    for (const [follower, asks] of asked) this.#release(follower, follower.asks, asks);
    const refused = this.#deliver([...asked.keys()].filter((follower) => this.#all.has(follower)));
    this.#host.settled();
    return refused;
  }

  /** @param asked - all that was asked for, before and since */
  #look(follower: Follower, asked: Map<Follower, Set<Ask>>): void {
    const search = new Search(this.#host, follower);
    const asks = asked.get(follower) ?? new Set(follower.asks);
    follower.outcome = search.run();
    follower.asks = search.asks;
    for (const ask of search.asks) asks.add(ask);
    asked.set(follower, asks);
    follower.timer?.cancel();
    follower.timer = search.until === Infinity ? undefined : this.#host.clock.after(Math.max(0, search.until - this.#host.now()), () => { this.touch([follower]); });
  }

  #release(follower: Follower, now: ReadonlySet<Ask>, before: ReadonlySet<Ask>): void {
    for (const ask of before) if (!now.has(ask)) ask.route.unfollow(ask, follower);
  }

  #deliver(followers: readonly Follower[]): readonly RefusedLink[] {
    const deliveries = followers.map((follower) => [follower, deliver(follower)] as const);
    const put = deliveries.flatMap(([, delivery]) => delivery.put);
    const remove = deliveries.flatMap(([, delivery]) => delivery.remove);
    const committed = put.length + remove.length > 0 ? this.#sink.commit({ put, remove }) : undefined;
    const refused = refusedIn(committed);
    for (const [follower, delivery] of deliveries) this.#note(follower, delivery, refused);
    return followers.flatMap((follower) => refusal(follower, refused));
  }

  #note(follower: Follower, delivery: Delivery, refused: ReadonlyMap<string, XdsError>): void {
    noteDelivered(follower, delivery, refused.has(idOf(follower)));
    const error = refused.get(idOf(follower)) ?? delivery.ambient;
    if (error !== null) this.#ambient.set(follower, error, this.#host.interestsOf(follower));
  }
}

/** Of a sink that answers later nothing is known yet. */
function refusedIn(committed: Committed | Promise<Committed> | undefined): ReadonlyMap<string, XdsError> {
  const refused = committed === undefined || committed instanceof Promise ? [] : committed.refused ?? [];
  return new Map(refused.map(({ typeUrl, name, error }) => [`${typeUrl}\n${name}`, error]));
}

function refusal(follower: Follower, refused: ReadonlyMap<string, XdsError>): readonly RefusedLink[] {
  const error = refused.get(idOf(follower));
  return error === undefined ? [] : [{ follower, error }];
}

function idOf({ typeUrl, interest: { name } }: Follower): string {
  return `${typeUrl}\n${name}`;
}
