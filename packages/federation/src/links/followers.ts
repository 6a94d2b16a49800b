import type {
  Committed,
  Interest,
  Put,
  Removal,
  ResourceSink,
  TypedInterest,
  XdsError,
} from "@xdstp/core";

import { Globs } from "../globs/globs.ts";
import type { Ask } from "../routes/route.ts";
import { Ambient } from "./ambient.ts";
import {
  deliver,
  noteDelivered,
  noteUnreadable,
  standingRejection,
  type Delivery,
} from "./deliver.ts";
import { Follower, type Followed, type FollowerList } from "./follower.ts";
import { variantId } from "./kept.ts";
import { Search, type SearchHost } from "./search.ts";

/** The parts of a federation that followers use. */
export interface FollowersHost extends SearchHost {
  /** Returns the interests of the readers that a follower delivers to. */
  interestsOf(follower: Follower): readonly TypedInterest[];
  /** Called when all followers have been updated. */
  settled(): void;
}

/** A rejection of resources of these subscriptions: by a reader, or because they cannot be read. */
export interface RejectedLink {
  readonly asks: readonly Ask[];
  readonly error: XdsError;
}

/**
 * All followers. When something on the way of a follower changes, its name is searched again. All
 * changes are delivered in one transaction.
 */
export class Followers implements FollowerList, Iterable<Follower> {
  /** Globs with alternatives, whose members have followers. */
  readonly globs: Globs;
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
    this.globs = new Globs(host, this, this.#ambient);
  }

  [Symbol.iterator](): Iterator<Follower> {
    return this.#all.values();
  }

  add(followed: Followed): Follower {
    const follower = new Follower(followed, this);
    this.#all.add(follower);
    this.touch(follower);
    return follower;
  }

  /** Ends a follower: its name has no subscribers any more, or is not a redirect. */
  end(follower: Follower): void {
    this.#all.delete(follower);
    this.#dirty.delete(follower);
    follower.timer?.cancel();
    this.#ambient.set(follower, undefined, []);
    release(follower, new Set(), follower.asks);
    follower.asks = new Set();
  }

  /** Marks a follower: something on its way has changed. */
  touch(follower: Follower): void {
    if (!this.#all.has(follower)) return;
    this.#dirty.add(follower);
    this.schedule();
  }

  /** Sets the interests with which readers request the name, one for each set of parameters. */
  askedBy(follower: Follower, asked: readonly Interest[]): void {
    follower.asked = asked;
    this.readersChanged(follower);
    this.touch(follower);
  }

  /** Called when the readers of a follower have changed. */
  readersChanged(follower: Follower): void {
    this.#ambient.again(follower, this.#host.interestsOf(follower));
  }

  /** Settles at the end of this turn. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.settle();
    });
  }

  /** Searches all names again that may have changed, and delivers the changes. */
  settle(): readonly RejectedLink[] {
    const asked = new Map<Follower, Set<Ask>>();
    while (this.#dirty.size > 0 || this.globs.isDirty) {
      // The set may grow while it is iterated.
      for (const follower of this.#dirty) {
        this.#dirty.delete(follower);
        this.#look(follower, asked);
      }
      this.globs.look();
    }
    for (const [follower, asks] of asked) release(follower, follower.asks, asks);
    const rejected = this.#deliver([...asked.keys()].filter((follower) => this.#all.has(follower)));
    this.globs.conclude();
    this.#host.settled();
    return rejected;
  }

  /** @param asked - All subscriptions of each follower, before this pass and since */
  #look(follower: Follower, asked: Map<Follower, Set<Ask>>): void {
    const search = new Search(this.#host, follower);
    const asks = asked.get(follower) ?? new Set(follower.asks);
    follower.outcome = search.run();
    follower.asks = search.asks;
    follower.unknown = search.unknown;
    for (const ask of search.asks) asks.add(ask);
    asked.set(follower, asks);
    follower.timer?.cancel();
    follower.timer =
      search.until === Infinity
        ? undefined
        : this.#host.clock.after(Math.max(0, search.until - this.#host.clock.now()), () => {
            this.touch(follower);
          });
    follower.member?.side.note(follower, follower.member.ask);
  }

  #deliver(followers: readonly Follower[]): readonly RejectedLink[] {
    const deliveries = followers.map((follower) => [follower, deliver(follower)] as const);
    const committed = this.#commit(
      deliveries.map(([, delivery]) => delivery),
      this.globs.takeSettled(),
    );
    const rejected = rejectedIn(committed);
    for (const [follower, delivery] of deliveries) this.#note(follower, delivery, rejected);
    return followers.flatMap((follower) => rejectionsOf(follower, rejected));
  }

  #commit(
    deliveries: readonly Delivery[],
    settled: readonly TypedInterest[],
  ): Committed | undefined {
    const put = once(
      deliveries.flatMap((delivery) => delivery.put),
      ({ typeUrl, as, resource }) => `${typeUrl}\n${as}\n${variantId(resource)}`,
    );
    const remove = once(
      deliveries.flatMap((delivery) => delivery.remove),
      (removal) => `${removal.typeUrl}\n${removal.name}\n${variantId(removal)}`,
    );
    return put.size + remove.size + settled.length === 0
      ? undefined
      : this.#sink.commit({
          put: [...put.values()],
          remove: [...remove].flatMap(([id, removal]) => (put.has(id) ? [] : [removal])),
          settled,
        });
  }

  #note(follower: Follower, delivery: Delivery, rejected: ReadonlyMap<string, XdsError>): void {
    const rejection = rejected.get(idOf(follower));
    noteDelivered(follower, delivery, rejection);
    const error = rejection ?? delivery.ambient ?? standingRejection(follower);
    // Each rejected version is a report of its own (C-ACK-18).
    const isReport = noteUnreadable(follower) || rejection !== undefined;
    if (error !== undefined || delivery.ambient !== null)
      this.#ambient.set(follower, error, this.#host.interestsOf(follower), isReport);
    if (follower.member?.side.has(follower, follower.member.ask) === false) this.end(follower);
  }
}

function release(follower: Follower, now: ReadonlySet<Ask>, before: ReadonlySet<Ask>): void {
  for (const ask of before) if (!now.has(ask)) ask.route.asks.unfollow(ask, follower);
}

/**
 * Two sides of a glob may both change one member in a transaction. So each name is in the
 * transaction once, and a name that is put is not removed.
 */
function once<What extends Put | Removal>(
  all: readonly What[],
  id: (what: What) => string,
): ReadonlyMap<string, What> {
  return new Map(all.map((what) => [id(what), what]));
}

/** Returns the rejections that are known at once. Later votes of a quorum do not count here. */
function rejectedIn({ rejected = [] }: Partial<Committed> = {}): ReadonlyMap<string, XdsError> {
  return new Map(rejected.map(({ typeUrl, name, error }) => [`${typeUrl}\n${name}`, error]));
}

/**
 * Returns the rejections for servers. If a reader rejects the result, every subscription on the way
 * is rejected. If a list cannot be read, the subscription of the list is.
 */
function rejectionsOf(
  follower: Follower,
  rejected: ReadonlyMap<string, XdsError>,
): readonly RejectedLink[] {
  const { outcome, asks } = follower;
  if (outcome.state === "broken" && outcome.blame !== undefined)
    return [{ asks: [outcome.blame.ask], error: outcome.error }];
  const error = rejected.get(idOf(follower));
  if (error !== undefined) return [{ asks: [...asks], error }];
  // The rejected version may arrive again. Then only the subscription that found it is rejected,
  // not the ones on the way to it.
  const standing = standingRejection(follower);
  return standing === undefined || outcome.state !== "held"
    ? []
    : [{ asks: [outcome.ask], error: standing }];
}

function idOf({ typeUrl, interest: { name } }: Follower): string {
  return `${typeUrl}\n${name}`;
}
