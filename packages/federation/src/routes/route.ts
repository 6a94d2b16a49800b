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
  /** The constraints that tell it from other variants of its name (TP2). Absent: it has none. */
  readonly constraints?: Uint8Array;
  /** Follows it for the requests of its name, or of a collection that has it. Absent: it is only a step of other redirects. */
  follower?: RedirectFollower | undefined;
  /** When it ends (C-TTL-4). */
  expiry?: Timer | undefined;
}

/** Where a redirect stands, whatever it leads to. */
export interface RedirectPlace {
  readonly route: Route;
  readonly key: string;
}

/** Follows a redirect for readers. */
export interface RedirectFollower extends AskFollower {
  readonly outcome: { readonly state: string };
  /** The resource that it replaced is still shown under its name. */
  stands: boolean;
  /** Called when other readers ask for it than before. */
  readersChanged(): void;
  end(): void;
}

/** What a route needs of its federation. */
export interface RouteHost extends Omit<RouteAsksHost<Ask>, "create" | "turned"> {
  readonly clock: Clock;
  /** The routes that use each server. */
  readonly users: LinkUsers;
  /** Where the route reports that its supply is broken. */
  readonly part: ResourceSink;
}

/** The routes that have each server in use. */
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

/** How a route chooses among its servers. */
export interface RouteOptions {
  readonly links: readonly ServerLink[];
  /** C-GRPC-7 */
  readonly reachabilityOnly: boolean;
}

/**
 * Servers in order of preference, for one or more authorities, and the subscriptions at them. A connectivity error while something subscribed is not cached brings the next server into use, next to those before it;
 * the first that comes from one of these ends the use of the later ones (C-GRPC-6).
 */
export class Route {
  readonly links: readonly ServerLink[];
  readonly asks: RouteAsks<Ask>;
  readonly answers: Answers = new Answers();
  /** Names that lead elsewhere. */
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

  /** Nothing leads elsewhere, and all subscriptions are passed on as they come. */
  get plain(): boolean {
    return this.asks.followed.size + this.redirects.size === 0;
  }

  find(typeUrl: string, interest: Interest): Ask | undefined {
    return this.asks.get(typeUrl, interest, nameKey(interest.name));
  }

  redirect(typeUrl: string, key: string): FollowedRedirect | undefined {
    return this.redirects.ofName(typeUrl, key)[0];
  }

  /** Notes that one server cannot give it now. Without an error: it can again. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    this.answers.trouble(ask, link, error);
    // What was not known during the error is looked up now.
    if (
      error === undefined &&
      this.asks.isFollowed(ask) &&
      ask.kept.size === 0 &&
      ask.missing === undefined
    )
      this.#host.recall(ask);
    this.#touch(ask);
  }

  /** Why nothing of a type can be fetched now. */
  failureOf(typeUrl: string): XdsError | undefined {
    return this.#failures.of(typeUrl);
  }

  uses(link: ServerLink): boolean {
    return this.links.slice(0, this.#used).includes(link);
  }

  /** The last server in use, so that no other one has to answer. */
  get last(): ServerLink | undefined {
    return this.links[this.#used - 1];
  }

  /** Another server is used next to it for the same names, or may be before it answers. */
  isContested(link: ServerLink): boolean {
    return this.links.length > 1 && (link.failure !== undefined || this.last !== link);
  }

  /** Whether the answers of a server count. Silence of a server that has come back, and has not answered yet, does not end the use of another one. */
  counts(link: ServerLink): boolean {
    return this.last === link || link.responded;
  }

  /** A server has sent something, so the servers after it are not used any more. */
  onUpdate(link: ServerLink): void {
    const used = this.links.indexOf(link) + 1;
    if (used < this.#used) this.#leave(used);
    this.#tell();
  }

  /** Ends what a server has reported about single names, of one type or of all. */
  forgetTrouble(link: ServerLink, typeUrl?: string): void {
    for (const ask of this.answers.troubledBy(link, typeUrl)) this.trouble(ask, link, undefined);
  }

  /** A server, or its stream of one type, has failed or has answered. */
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

  /** Only this number of servers are used from now on. */
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

  /** Asks the next server, if the last one in use has failed and something is missing. */
  #fallBack(): void {
    while (this.#used > 0 && this.#used < this.links.length && this.#isWanting()) this.#use();
  }

  #isWanting(): boolean {
    const { last } = this;
    if (last?.failure !== undefined) return this.#reachabilityOnly || this.answers.waits;
    return last !== undefined && this.answers.waitsFor(last.typeFailures);
  }

  /** A reader is notified of failures only when no server is left. */
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

/** The answers of servers to the requests of a route: which requests have no answer yet, and which cannot be answered now. */
class Answers {
  readonly #unanswered = new Set<Ask>();
  readonly #troubled = new Set<Ask>();

  /** Whether a request waits for an answer. */
  get waits(): boolean {
    return this.#unanswered.size > 0;
  }

  /** A request begins. */
  begin(ask: Ask): void {
    if (ask.kept.size === 0 && ask.missing === undefined) this.#unanswered.add(ask);
  }

  /** A request ends. */
  end(ask: Ask): void {
    this.#unanswered.delete(ask);
  }

  /** Requests have been answered: with something, or with the report that it does not exist. */
  note(asks: Iterable<Ask>): void {
    for (const ask of asks) this.#unanswered.delete(ask);
  }

  /** Whether a request is open and has been answered. */
  has(ask: Ask): boolean {
    return ask.wanted && !this.#unanswered.has(ask);
  }

  /** Whether a request of one of these types waits. It is called for each name that begins, so it stops at the first. */
  waitsFor(types: ReadonlyMap<string, unknown>): boolean {
    return types.size > 0 && this.#unanswered.values().some(({ typeUrl }) => types.has(typeUrl));
  }

  /** Notes that one server cannot give it now. Without an error: it can again. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    ask.unavailable = error === undefined ? undefined : { link, error };
    if (error === undefined) this.#troubled.delete(ask);
    else this.#troubled.add(ask);
  }

  /** Returns the requests that one server cannot answer now, of one type or of all. */
  troubledBy(link: ServerLink, typeUrl?: string): readonly Ask[] {
    return [...this.#troubled].filter(
      (ask) => ask.unavailable?.link === link && (typeUrl === undefined || ask.typeUrl === typeUrl),
    );
  }
}
