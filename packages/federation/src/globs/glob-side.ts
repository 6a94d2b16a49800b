import { XdsError, type Interest } from "@xdstp/core";
import { nameFromLocator, parseName, printLocator, printName, type XdstpLocator } from "@xdstp/uri";

import type { Followed, Follower, MemberSide, GlobMember } from "../links/follower.ts";
import type { SearchHost } from "../links/search.ts";
import { interestWith, type AskSide } from "../routes/ask.ts";
import { isOutOfReach } from "../links/outcome.ts";
import { gatheredIn } from "../routes/recall.ts";
import type { Ask, Route } from "../routes/route.ts";

/** The followers of the members of globs, as globs use them. */
export interface GlobFollowers {
  add(followed: Followed): Follower;
  schedule(): void;
}

/** The glob that a side belongs to. */
export interface GlobOfSides {
  readonly typeUrl: string;
  readonly asked: readonly Interest[];
  readonly locator: XdstpLocator;
  readonly inUse: GlobSide;
  touch(): void;
}

/** One side of a glob with alternatives (the glob itself, or an alternative), and its members. */
export class GlobSide implements AskSide, MemberSide {
  readonly glob: GlobOfSides;
  /** The locator, with its own alternatives. */
  readonly locator: XdstpLocator;
  /** By the key of their own name. */
  readonly members: Map<string, Follower> = new Map<string, Follower>();
  /** The members for which the result is not known yet. */
  readonly pending: Set<Follower> = new Set<Follower>();
  readonly #host: SearchHost;
  readonly #followers: GlobFollowers;
  readonly #before: readonly XdstpLocator[];
  /** One for each set of parameters. */
  #asks: readonly Ask[] = [];
  /** The interests that `#asks` were created for. */
  #asked: readonly Interest[] | undefined;
  #error: XdsError | undefined;

  /** @param before - The locators that precede it: it is an alternative of these */
  constructor(
    glob: GlobOfSides,
    locator: XdstpLocator,
    before: readonly XdstpLocator[],
    host: SearchHost,
    followers: GlobFollowers,
  ) {
    this.glob = glob;
    this.locator = locator;
    this.#before = before;
    this.#host = host;
    this.#followers = followers;
  }

  /** True if the members of this side are delivered. */
  get isInUse(): boolean {
    return this.glob.inUse === this;
  }

  /** True if at least one member is delivered. */
  get shows(): boolean {
    return this.members.values().some(({ shows }) => shows);
  }

  /** True if all members are known, and the result for each. */
  get isWhole(): boolean {
    return (
      this.#asks.length > 0 && this.#asks.every(({ settled }) => settled) && this.pending.size === 0
    );
  }

  /** True if at least a part of it is known. */
  get isHeld(): boolean {
    return this.#asks.some(({ settled }) => settled) || this.members.size > 0;
  }

  get isEmpty(): boolean {
    return this.isWhole && this.members.size === 0;
  }

  /** The error if no server is known. */
  get broken(): XdsError | undefined {
    return this.#error;
  }

  /** The reason why it is unavailable now, or may be out of date. */
  get failure(): XdsError | undefined {
    const [first] = this.#asks;
    return (
      this.#asks.find(({ unavailable }) => unavailable !== undefined)?.unavailable?.error ??
      first?.route.failureOf(this.glob.typeUrl)
    );
  }

  /** True if no server that could answer is reachable. */
  get isLost(): boolean {
    const [first] = this.#asks;
    return (
      first?.route.failureOf(this.glob.typeUrl) !== undefined ||
      this.#asks.some(
        ({ unavailable }) => unavailable !== undefined && isOutOfReach(unavailable.error),
      )
    );
  }

  /** Subscribes to it, as readers do, unless this is done already. */
  open(): void {
    const { asked } = this.glob;
    if (this.#asked === asked) return;
    const { authority } = this.locator;
    const route = this.#host.routeOf(authority);
    this.#error = route instanceof XdsError ? route : undefined;
    if (route === undefined || route instanceof XdsError) return;
    this.#asked = asked;
    const sets =
      this.#before.length === 0
        ? asked.map(({ parameters }) => parameters)
        : [this.#host.parametersOf(authority)];
    const before = this.#asks;
    this.#asks = sets.map((parameters) => this.#askWith(parameters, route));
    for (const ask of this.#asks) if (!before.includes(ask)) this.#gather(ask);
    for (const ask of before) if (!this.#asks.includes(ask)) route.asks.ungather(ask, this);
  }

  close(): void {
    const asks = this.#asks;
    this.#asks = [];
    this.#asked = this.#error = undefined;
    for (const follower of this.members.values()) follower.end();
    this.members.clear();
    this.pending.clear();
    for (const ask of asks) ask.route.asks.ungather(ask, this);
  }

  touch(): void {
    this.glob.touch();
  }

  /** Adds a member. */
  add(name: string, key: string): void {
    const parsed = parseName(key);
    const [first] = this.#asks;
    if (this.members.has(key) || first === undefined || !parsed.ok) return;
    const {
      route,
      typeUrl,
      authority,
      interest: { parameters },
    } = first;
    const segment = segmentOf(parsed.value);
    const ask = route.asks.open(typeUrl, interestWith(name, parameters), authority);
    const follower = this.#followers.add({
      typeUrl: this.glob.typeUrl,
      interest: { name: printLocator(memberOf(this.glob.locator, segment)) },
      start: { side: this, ask, ...wayTo([...this.#before, this.locator], segment) },
    });
    this.members.set(key, follower);
    this.pending.add(follower);
    follower.asks = new Set([ask]);
    route.asks.follow(ask, follower);
  }

  /** Returns true if a follower is still the one of a member. */
  has(follower: Follower, { key }: Ask): boolean {
    return this.members.get(key) === follower;
  }

  /** Called when the result for a member is known. */
  note(follower: Follower, ask: Ask): void {
    const { outcome } = follower;
    if (outcome.state === "pending") this.pending.add(follower);
    else this.pending.delete(follower);
    if (
      outcome.state === "missing" &&
      ask.route.redirect(ask.typeUrl, ask.key) === undefined &&
      this.has(follower, ask)
    )
      this.members.delete(ask.key);
    this.glob.touch();
  }

  #askWith(parameters: Interest["parameters"], route: Route): Ask {
    const name = printName(nameFromLocator(this.locator));
    const { authority } = this.locator;
    return route.asks.open(this.glob.typeUrl, interestWith(name, parameters), authority);
  }

  #gather(ask: Ask): void {
    ask.route.asks.gather(ask, this);
    for (const [key, name] of gatheredIn(ask)) this.add(name, key);
  }
}

/**
 * Returns the locator of a member. It has the alternatives of the glob, so it differs from a name
 * that is subscribed by itself and that chooses its own alternative (C-ALT-7).
 */
function memberOf(glob: XdstpLocator, segment: string): XdstpLocator {
  return { ...glob, id: `${glob.id.slice(0, -1)}${segment}` };
}

/** Returns the last part of the id of a name: the part that matches `*` in its glob. */
function segmentOf({ id }: { readonly id: string }): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Returns the steps and hops from the first side to the last one of `sides`, for one member. */
function wayTo(
  sides: readonly XdstpLocator[],
  segment: string,
): Pick<GlobMember, "steps" | "hops"> {
  const members = sides.map((side) => memberOf(side, segment));
  return {
    steps: members
      .slice(0, -1)
      .map((member) => ({ name: printName(nameFromLocator(member)), version: "alt" })),
    hops: members.slice(1).map((member) => ({ kind: "alt", to: printLocator(member) })),
  };
}
