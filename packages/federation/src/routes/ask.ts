import { type Clock, type Interest, InterestMap, XdsError } from "@xdstp/core";
import { globMatches, globOf, isGlob, nameKey } from "@xdstp/uri";

import { KeptResources } from "../links/kept.ts";
import type { KeyedInterest, ServerLink } from "./server-link.ts";

/** A subscription at the servers of a route. */
interface Asked extends KeyedInterest {
  /** `null`: the name is opaque. */
  readonly authority: string | null;
}

/** Follows a subscription that is a step on the way to a delivered resource. */
export interface AskFollower {
  /** The member of a glob that it delivers. The glob is subscribed, so the member need not be. */
  readonly member: { readonly ask: AskState } | undefined;
  /** Called when something that it follows has changed. */
  touch(): void;
}

/** Collects the members of a glob, to deliver them under other names (C-ALT-7). */
export interface AskSide {
  /** Adds a member of the glob. */
  add(name: string, key: string): void;
  /** Called when the state of the glob has changed. */
  touch(): void;
}

/** One interest of a type, its users, and what is known of it. */
export interface AskState extends Asked {
  readonly kind: "name" | "glob" | "wildcard";
  /** True if readers request it by its own name, so its resources are passed on unchanged. */
  direct: boolean;
  /** Its followers: it is a step on their way, or the last one. */
  readonly followers: Set<AskFollower>;
  /** For a glob: the sides that collect its members under other names (C-ALT-7). */
  readonly sides: Set<AskSide>;
  /** True if it is subscribed at servers. A member of a collected glob is not. */
  wanted: boolean;
  /** For a collection: true if all of it is known. */
  settled: boolean;
  /** The received resources, while it has followers. */
  readonly kept: KeptResources;
  /** For a name: the reason why it does not exist. */
  missing: XdsError | undefined;
  /** True if it is missing because its TTL has expired, not because a server reported it. */
  expired: boolean;
  /** The reason why it cannot be fetched now, and the server that reported it. */
  unavailable: { readonly link: ServerLink; readonly error: XdsError } | undefined;
}

export function createAsk(asked: Asked, clock: Clock): AskState {
  const {
    interest: { name },
  } = asked;
  const ask: AskState = {
    ...asked,
    kind: kindOf(name),
    direct: false,
    followers: new Set(),
    sides: new Set(),
    wanted: false,
    settled: false,
    kept: new KeptResources(clock, () => {
      expire(ask);
      for (const follower of ask.followers) follower.touch();
    }),
    missing: undefined,
    expired: false,
    unavailable: undefined,
  };
  return ask;
}

/**
 * Called when the TTL of a resource has expired. If it was the last one, the name is missing, as
 * after a removal (C-TTL-4).
 */
export function expire(ask: AskState): void {
  const {
    typeUrl,
    interest: { name },
  } = ask;
  ask.expired = ask.kept.size === 0;
  if (ask.expired)
    ask.missing = new XdsError(
      "NOT_FOUND",
      `${JSON.stringify(name)} has not been refreshed within its TTL`,
      { typeUrl, resource: name, rule: "C-TTL-4" },
    );
}

/** Returns true if the subscription covers the name with this key. */
export function covers({ kind, key }: Pick<AskState, "kind" | "key">, name: string): boolean {
  return kind === "wildcard" || (kind === "glob" ? globMatches(key, name) : key === name);
}

/**
 * Returns a function that tests whether an interest covers the name with a key. Without an interest
 * it always returns true.
 */
export function coveredBy(interest: Interest | undefined): (key: string) => boolean {
  const name = interest?.name ?? "*";
  const asked = { kind: kindOf(name), key: nameKey(name) };
  return (key) => covers(asked, key);
}

/** Returns true if it has readers or followers. */
function isUsed({ direct, followers, sides }: AskState): boolean {
  return direct || followers.size + sides.size > 0;
}

/** Returns true if it has to be subscribed at servers. */
function isWanted(ask: AskState): boolean {
  return (
    ask.direct ||
    ask.sides.size > 0 ||
    ask.followers.values().some(({ member }) => member?.ask !== ask)
  );
}

/**
 * Returns the interest of a name with these parameters. An empty set is the same as no parameters.
 */
export function interestWith(name: string, parameters: Interest["parameters"]): Interest {
  return parameters === undefined || parameters.size === 0 ? { name } : { name, parameters };
}

/** Returns the kind of an interest with this name. */
export function kindOf(name: string): AskState["kind"] {
  if (name === "*") return "wildcard";
  return isGlob(name) ? "glob" : "name";
}

/** Returns the error for a name that a server reports as missing without a reason. */
export function notFound(typeUrl: string, name: string): XdsError {
  return new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    typeUrl,
    resource: name,
    reason: "missing",
  });
}

/** The parts of a route that its subscriptions use. */
export interface RouteAsksHost<Ask extends AskState> {
  /** Creates a subscription without users. */
  create(asked: Asked): Ask;
  /** Looks up the received resources of a subscription that had no followers until now. */
  recall(ask: Ask): void;
  /** Called when `ask.wanted` has changed: servers have to be asked for it, or no longer. */
  turned(ask: Ask): void;
  /** Called when its users have changed, or it has none any more. */
  changed(ask: Ask): void;
}

/** The subscriptions of a route, and the users of each: readers, followers and sides of globs. */
export class RouteAsks<Ask extends AskState> extends InterestMap<Ask> {
  readonly #host: RouteAsksHost<Ask>;
  readonly #followed = new Set<Ask>();
  /** Subscriptions that have lost a user in this turn. */
  readonly #loose = new Set<Ask>();

  constructor(host: RouteAsksHost<Ask>) {
    super();
    this.#host = host;
  }

  /** Subscriptions that have followers or sides. */
  get followed(): ReadonlySet<Ask> {
    return this.#followed;
  }

  /**
   * Returns true if a subscription has followers, or had some until this turn: it may get followers
   * again.
   */
  isFollowed(ask: Ask): boolean {
    return this.#followed.has(ask);
  }

  /** Returns the subscriptions of readers that cover the name with this key. */
  ofReaders(typeUrl: string, key: string, aliases?: readonly string[]): readonly Ask[] {
    return this.covering(typeUrl, key, globOf(key), aliases?.map(nameKey)).filter(
      ({ direct }) => direct,
    );
  }

  /** Returns the subscription of an interest, or a new one without users. */
  open(typeUrl: string, interest: Interest, authority: string | null): Ask {
    const key = nameKey(interest.name);
    const known = this.get(typeUrl, interest, key);
    if (known !== undefined) return known;
    const ask = this.#host.create({ typeUrl, interest, key, authority });
    this.set(typeUrl, interest, key, ask);
    return ask;
  }

  /** Sets whether readers request it by its own name. */
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

  /**
   * Delays the end of a subscription until the end of the turn: if it gets a user again by then, it
   * never ended. A server would not send its resource again.
   */
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

  /** Another subscription of the same interest may have replaced it in this turn. */
  #drop(ask: Ask): void {
    const { typeUrl, interest, key } = ask;
    if (this.get(typeUrl, interest, key) === ask) this.delete(typeUrl, interest, key);
  }
}

function forgetKept(ask: AskState): void {
  ask.kept.clear();
  ask.missing = undefined;
}
