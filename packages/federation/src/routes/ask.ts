import { type Clock, type Interest, InterestMap, XdsError } from "@xdstp/core";
import { globMatches, globOf, isGlob, nameKey } from "@xdstp/uri";

import { KeptResources } from "../links/kept.ts";
import type { KeyedInterest, ServerLink } from "./server-link.ts";

/** A subscription that servers have to answer. */
interface Asked extends KeyedInterest {
  /** null: of an opaque name. */
  readonly authority: string | null;
}

/** Follows an ask on the way to what it delivers. */
export interface AskFollower {
  /** The member of a glob that it delivers. The glob is subscribed, so the member need not be. */
  readonly member: { readonly ask: AskState } | undefined;
  /** Something that it follows has changed. */
  touch(): void;
}

/** Gathers the members of a glob under other names (C-ALT-7). */
export interface AskSide {
  /** The glob has a member of this name. */
  add(name: string, key: string): void;
  /** Something of the glob has changed. */
  touch(): void;
}

/** One interest of a type, those that follow it, and what is known of it. */
export interface AskState extends Asked {
  readonly kind: "name" | "glob" | "wildcard";
  /** Readers ask for it by its own name, so what comes is passed on as it is. */
  direct: boolean;
  /** Those that follow it: it is a step on their way, or the end. */
  readonly followers: Set<AskFollower>;
  /** Of a glob: those that gather its members under other names (C-ALT-7). */
  readonly sides: Set<AskSide>;
  /** It is subscribed at servers. A member of a glob that is gathered is not. */
  wanted: boolean;
  /** A collection: all of it is known. */
  settled: boolean;
  /** What has come of it, while it has followers. */
  readonly kept: KeptResources;
  /** Of a name: it does not exist, and why. */
  missing: XdsError | undefined;
  /** It is missing because its TTL is over, and not because a server reported it. */
  expired: boolean;
  /** Why it cannot be fetched now, and the server that reported it. */
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

/** Notes that the TTL of a resource is over. If it was the last one, that is as if it had been removed (C-TTL-4). */
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

/** Whether the subscription contains, or is, the name with a key. */
export function covers({ kind, key }: Pick<AskState, "kind" | "key">, name: string): boolean {
  return kind === "wildcard" || (kind === "glob" ? globMatches(key, name) : key === name);
}

/** Returns a test whether an interest contains, or is, the name with a key. Without an interest: all are. */
export function coveredBy(interest: Interest | undefined): (key: string) => boolean {
  const name = interest?.name ?? "*";
  const asked = { kind: kindOf(name), key: nameKey(name) };
  return (key) => covers(asked, key);
}

/** Whether it has readers or followers. */
function isUsed({ direct, followers, sides }: AskState): boolean {
  return direct || followers.size + sides.size > 0;
}

/** Whether it has to be subscribed at servers. */
function isWanted(ask: AskState): boolean {
  return (
    ask.direct ||
    ask.sides.size > 0 ||
    ask.followers.values().some(({ member }) => member?.ask !== ask)
  );
}

/** The interest of a name with these parameters; none are the same as no parameters. */
export function interestWith(name: string, parameters: Interest["parameters"]): Interest {
  return parameters === undefined || parameters.size === 0 ? { name } : { name, parameters };
}

/** What an interest with this name is. */
export function kindOf(name: string): AskState["kind"] {
  if (name === "*") return "wildcard";
  return isGlob(name) ? "glob" : "name";
}

/** The error of a name that a server reports as missing without a reason. */
export function notFound(typeUrl: string, name: string): XdsError {
  return new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    typeUrl,
    resource: name,
    reason: "missing",
  });
}

/** What the asks of a route need of it. */
export interface RouteAsksHost<Ask extends AskState> {
  /** A new ask without users. */
  create(asked: Asked): Ask;
  /** Looks up what came of an ask that was answered under its own name until now. */
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

  /** Subscriptions that have followers. */
  get followed(): ReadonlySet<Ask> {
    return this.#followed;
  }

  /** Until the end of the turn also those without followers: they may be used again. */
  isFollowed(ask: Ask): boolean {
    return this.#followed.has(ask);
  }

  /** What readers ask for that is, or contains, the name with a key. */
  ofReaders(typeUrl: string, key: string, aliases?: readonly string[]): readonly Ask[] {
    return this.covering(typeUrl, key, globOf(key), aliases?.map(nameKey)).filter(
      ({ direct }) => direct,
    );
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
