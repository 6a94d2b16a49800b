import {
  type Clock,
  InterestMap,
  type Interest,
  type ResourceSink,
  type Timer,
  type XdsError,
} from "@xdstp/core";
import { nameKey, type XdstpLocator } from "@xdstp/uri";

import {
  type AskFollower,
  type AskState,
  createAsk,
  RouteAsks,
  type RouteAsksHost,
} from "./ask.ts";
import { RouteFailures } from "./route-failures.ts";
import type { ServerLink } from "./server-link.ts";

/** A subscription of a route, and what is known of it. */
export interface Ask extends AskState {
  readonly route: Route;
}

/** A redirect that one of the servers of a route has sent. */
export interface FollowedRedirect {
  readonly route: Route;
  readonly typeUrl: string;
  /** The name as the server spelled it. */
  readonly name: string;
  readonly key: string;
  readonly target: XdstpLocator;
  /** The version of the redirect itself (S-REDIR-7). */
  readonly version: string;
  readonly link: ServerLink;
  /**
   * The constraints that distinguish it from other variants of its name (TP2). Absent: it has none.
   */
  readonly constraints?: Uint8Array;
  /**
   * Follows it for readers of its name, or of a collection that contains it. Absent: it is only a
   * step of other redirects.
   */
  follower?: RedirectFollower | undefined;
  /** The timer of its TTL (C-TTL-4). */
  expiry?: Timer | undefined;
}

/** The name of a redirect in a route, whatever the redirect leads to. */
export interface RedirectPlace {
  readonly route: Route;
  readonly key: string;
}

/** Follows a redirect for readers. */
export interface RedirectFollower extends AskFollower {
  readonly outcome: { readonly state: string };
  /** True while the resource that the redirect replaced is still cached under its name. */
  stands: boolean;
  /** Called when its readers have changed. */
  readersChanged(): void;
  end(): void;
}

/** The parts of a federation that a route uses. */
export interface RouteHost extends Omit<RouteAsksHost<Ask>, "create" | "turned"> {
  readonly clock: Clock;
  /** The routes that use each server. */
  readonly users: LinkUsers;
  /** The sink for failures of the route. */
  readonly part: ResourceSink;
}

/** The routes that use each server. */
export class LinkUsers {
  readonly #routes = new Map<ServerLink, Set<Route>>();

  of(link: ServerLink): Iterable<Route> {
    return this.#routes.get(link) ?? [];
  }

  add(link: ServerLink, route: Route): void {
    const routes = this.#routes.get(link) ?? new Set();
    this.#routes.set(link, routes.add(route));
  }

  delete(link: ServerLink, route: Route): void {
    this.#routes.get(link)?.delete(route);
  }
}

/** The servers of a route, and how it chooses one. */
export interface RouteOptions {
  readonly links: readonly ServerLink[];
  /** True if the next server is used as soon as one is unreachable (C-GRPC-7). */
  readonly reachabilityOnly: boolean;
}

/**
 * Servers in order of preference, for one or more authorities, and the subscriptions at them. After
 * a connectivity error while a subscribed resource is not cached, the route also uses the next
 * server.
 * When an earlier server sends something, the route stops using the later ones (C-GRPC-6).
 */
export class Route {
  readonly links: readonly ServerLink[];
  readonly asks: RouteAsks<Ask>;
  readonly answers: Answers = new Answers();
  /** The redirects of this route. */
  readonly redirects: InterestMap<FollowedRedirect> = new InterestMap<FollowedRedirect>();
  readonly #host: RouteHost;
  readonly #reachabilityOnly: boolean;
  readonly #failures: RouteFailures;
  #wanted = 0;
  #used = 0;

  constructor(host: RouteHost, { links, reachabilityOnly }: RouteOptions) {
    this.#host = host;
    this.links = links;
    this.asks = new RouteAsks({
      ...host,
      create: (asked) => Object.assign(createAsk(asked, host.clock), { route: this }),
      turned: (ask) => {
        if (ask.wanted) this.#begin(ask);
        else this.#cease(ask);
      },
    });
    this.#reachabilityOnly = reachabilityOnly;
    this.#failures = new RouteFailures(host.part);
  }

  /** True if no name leads elsewhere, so all resources are passed on unchanged. */
  get plain(): boolean {
    return this.asks.followed.size + this.redirects.size === 0;
  }

  find(typeUrl: string, interest: Interest): Ask | undefined {
    return this.asks.get(typeUrl, interest, nameKey(interest.name));
  }

  redirect(typeUrl: string, key: string): FollowedRedirect | undefined {
    return this.redirects.ofName(typeUrl, key)[0];
  }

  /** Records that one server cannot provide a subscription now. Without an error: it can again. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    this.answers.trouble(ask, link, error);
    // Cached resources that were not found before the error ended are looked up now.
    if (
      error === undefined &&
      this.asks.isFollowed(ask) &&
      ask.kept.size === 0 &&
      ask.missing === undefined
    )
      this.#host.recall(ask);
    this.#touch(ask);
  }

  /** Returns the reason why no resource of a type can be fetched now. */
  failureOf(typeUrl: string): XdsError | undefined {
    return this.#failures.of(typeUrl);
  }

  uses(link: ServerLink): boolean {
    return this.links.slice(0, this.#used).includes(link);
  }

  /** The last server in use: there is no later one that has to answer. */
  get last(): ServerLink | undefined {
    return this.links[this.#used - 1];
  }

  /**
   * Returns true if another server is used for the same names, or may be used before this one
   * answers.
   */
  isContested(link: ServerLink): boolean {
    return this.links.length > 1 && (link.failure !== undefined || this.last !== link);
  }

  /**
   * Returns true if the answers of a server count. A server that is connected again and has not
   * answered yet does not end the use of another one.
   */
  counts(link: ServerLink): boolean {
    return this.last === link || link.responded;
  }

  /** Called when a server has sent something: the later servers are not used any more. */
  onUpdate(link: ServerLink): void {
    const used = this.links.indexOf(link) + 1;
    if (used < this.#used) this.#leave(used);
    this.#tell();
  }

  /** Ends the errors that a server has reported about single names, of one type or of all types. */
  forgetTrouble(link: ServerLink, typeUrl?: string): void {
    for (const ask of this.answers.troubledBy(link, typeUrl)) this.trouble(ask, link, undefined);
  }

  /** Called when a server, or its stream of one type, has failed or has answered. */
  onReachable(): void {
    this.#fallBack();
    this.#tell();
  }

  #begin(ask: Ask): void {
    this.answers.begin(ask);
    this.#failures.speakFor(ask.authority);
    if (this.#wanted++ === 0) this.#use();
    else for (const link of this.links.slice(0, this.#used)) link.want(ask);
    this.#fallBack();
    this.#tell();
  }

  #cease(ask: Ask): void {
    if (ask.unavailable !== undefined) this.trouble(ask, ask.unavailable.link, undefined);
    this.answers.end(ask);
    for (const link of this.links.slice(0, this.#used)) link.unwant(ask);
    if (--this.#wanted === 0) this.#leave(0);
    this.#failures.beSilentOf(ask.authority);
  }

  #use(): void {
    const link = this.links[this.#used++];
    if (link === undefined) return;
    this.#host.users.add(link, this);
    for (const ask of this.asks) if (ask.wanted) link.want(ask);
  }

  /** Stops using all servers except the first `used`. */
  #leave(used: number): void {
    for (const link of this.links.slice(used, this.#used)) {
      this.#host.users.delete(link, this);
      for (const ask of this.asks) link.unwant(ask);
      this.forgetTrouble(link);
      link.forget(this.#failures.authorities);
      if (used > 0) link.retire();
    }
    this.#used = used;
    if (used === 0) this.#tell();
  }

  /** Uses the next server if the last one in use has failed and a resource is missing. */
  #fallBack(): void {
    while (this.#used > 0 && this.#used < this.links.length && this.#isWanting()) this.#use();
  }

  #isWanting(): boolean {
    const { last } = this;
    if (last?.failure !== undefined) return this.#reachabilityOnly || this.answers.waits;
    return last !== undefined && this.answers.waitsFor(last.typeFailures);
  }

  /** Reports failures to readers, but only when no server is left. */
  #tell(): void {
    this.#tellOf(undefined);
    for (const typeUrl of new Set([
      ...this.#failures.types,
      ...(this.last?.typeFailures.keys() ?? []),
    ]))
      this.#tellOf(typeUrl);
  }

  #tellOf(typeUrl: string | undefined): void {
    const failure =
      this.#used > 0 && this.links.every((link) => link.failureOf(typeUrl) !== undefined)
        ? this.links.at(-1)?.failureOf(typeUrl)
        : undefined;
    if (!this.#failures.set(typeUrl, failure)) return;
    for (const ask of this.asks.followed)
      if (typeUrl === undefined || ask.typeUrl === typeUrl) this.#touch(ask);
  }

  #touch({ followers, sides }: Ask): void {
    for (const follower of followers) follower.touch();
    for (const side of sides) side.touch();
  }
}

/** Records which requests of a route have no answer yet, and which cannot be answered now. */
class Answers {
  readonly #unanswered = new Set<Ask>();
  readonly #troubled = new Set<Ask>();

  /** True if a request waits for an answer. */
  get waits(): boolean {
    return this.#unanswered.size > 0;
  }

  /** Called when a request begins. */
  begin(ask: Ask): void {
    if (ask.kept.size === 0 && ask.missing === undefined) this.#unanswered.add(ask);
  }

  /** Called when a request ends. */
  end(ask: Ask): void {
    this.#unanswered.delete(ask);
  }

  /**
   * Called when requests have been answered: with a resource, or with the report that it does not
   * exist.
   */
  note(asks: Iterable<Ask>): void {
    for (const ask of asks) this.#unanswered.delete(ask);
  }

  /** Returns true if a request is open and has been answered. */
  has(ask: Ask): boolean {
    return ask.wanted && !this.#unanswered.has(ask);
  }

  /**
   * Returns true if a request of one of these types waits. It is called for each name that begins,
   * so it stops at the first match.
   */
  waitsFor(types: ReadonlyMap<string, unknown>): boolean {
    return types.size > 0 && this.#unanswered.values().some(({ typeUrl }) => types.has(typeUrl));
  }

  /** Records that one server cannot provide a subscription now. Without an error: it can again. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    ask.unavailable = error === undefined ? undefined : { link, error };
    if (error === undefined) this.#troubled.delete(ask);
    else this.#troubled.add(ask);
  }

  /** Returns the requests that one server cannot answer now, of one type or of all types. */
  troubledBy(link: ServerLink, typeUrl?: string): readonly Ask[] {
    return [...this.#troubled].filter(
      (ask) => ask.unavailable?.link === link && (typeUrl === undefined || ask.typeUrl === typeUrl),
    );
  }
}
