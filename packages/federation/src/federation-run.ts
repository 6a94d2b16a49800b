import {
  systemClock,
  type Clock,
  type Interest,
  type ResourceSink,
  type TypedInterest,
  type XdsError,
} from "@xdstp/core";

import type { FederationServer } from "./federation-source.ts";
import type { Federation, FederationOptions, FederationServerStatus, Trace } from "./federation.ts";
import type { Globs } from "./globs/globs.ts";
import type { Follower } from "./links/follower.ts";
import { Followers, type FollowersHost } from "./links/followers.ts";
import { Redirects } from "./links/redirects.ts";
import { Readers } from "./readers/readers.ts";
import { expire } from "./routes/ask.ts";
import type { ForeignNames, LinkBooks } from "./routes/taking.ts";
import { createLinkSink } from "./routes/link-sink.ts";
import { Owing } from "./routes/owing.ts";
import { createAuthorityReader } from "./routes/authority-finder.ts";
import { recall } from "./routes/recall.ts";
import { type Ask, LinkUsers, Route, type FollowedRedirect } from "./routes/route.ts";
import { Routes } from "./routes/routes.ts";
import { ServerLink } from "./routes/server-link.ts";

/** A change of the subscriptions of readers. */
export type Wanted = readonly [
  typeUrl: string,
  added: readonly Interest[],
  dropped: readonly Interest[],
];

/** A running federation. */
export class FederationRun implements LinkBooks, FollowersHost {
  readonly follow: boolean;
  readonly maxHops: number;
  readonly altOnMissing: boolean;
  readonly clock: Clock;
  readonly followers: Followers;
  readonly redirects: Redirects;
  readonly users: LinkUsers = new LinkUsers();
  readonly #options: FederationOptions & Pick<Federation, "inWildcard">;
  readonly #sink: ResourceSink;
  /** The part of the sink for resources that are delivered under another name than their own. */
  readonly #linked: ResourceSink;
  readonly #links = new Map<string, ServerLink>();
  readonly #routes: Routes;
  readonly #readers: Readers;
  readonly #owing = new Owing();
  readonly #authorityOf = createAuthorityReader();

  constructor(options: FederationOptions & Pick<Federation, "inWildcard">, sink: ResourceSink) {
    this.#options = options;
    this.#sink = sink;
    this.#linked = this.#part();
    this.clock = options.clock ?? systemClock;
    this.follow = options.follow ?? true;
    this.maxHops = options.maxHops ?? 5;
    this.altOnMissing = options.altOn === "missing";
    this.followers = new Followers(this, this.#linked);
    this.redirects = new Redirects(this.clock, this.followers, (redirect) => {
      this.#onExpired(redirect);
    });
    this.#routes = new Routes(
      {
        open: (servers, reachabilityOnly) => this.#openRoute(servers, reachabilityOnly),
        finding: options.resolveAuthority && {
          clock: this.clock,
          resolve: options.resolveAuthority,
          resolveMs: options.resolveMs ?? 15_000,
          random: () => this.random(),
          isWanted: (authority) => this.#isWanted(authority),
          changed: (authority) => {
            this.#onResolved(authority);
          },
        },
      },
      options.sources,
    );
    this.#readers = new Readers({
      routes: this.#routes,
      followers: this.followers,
      linked: this.#linked,
      owe: (asks, link) => {
        this.owe(asks, link);
      },
    });
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of added) this.#readers.begin({ typeUrl, interest });
    for (const interest of dropped) this.#readers.end({ typeUrl, interest });
    this.followers.settle();
  }

  /** The servers that have been in use. */
  get servers(): Iterable<FederationServer> {
    return this.#links.values().map(({ server }) => server);
  }

  /** Returns the servers of an authority, in order. Empty if the authority has no route. */
  serversOf(authority: string | null): readonly FederationServer[] {
    return (this.#routes.known(authority)?.links ?? []).map(({ server }) => server);
  }

  statusOf({ id, name }: FederationServer): FederationServerStatus {
    const { status, answers, failure } = this.#links.get(id) ?? {};
    return {
      id,
      name,
      ...(status !== undefined && { status }),
      ...(answers !== undefined && { answers }),
      ...(failure !== undefined && { failure: failure.error }),
    };
  }

  traces(): readonly Trace[] {
    return Array.from(this.followers, ({ typeUrl, interest: { name }, outcome }) => ({
      typeUrl,
      name,
      state: outcome.state,
      hops: outcome.hops,
      ...("error" in outcome && { error: outcome.error }),
    }));
  }

  nodeChanged(): void {
    for (const link of this.#links.values()) link.nodeChanged();
  }

  end(): void {
    // Sources that are found from now on are not used.
    this.#routes.end();
    this.#readers.clear();
    for (const glob of [...this.globs]) this.globs.end(glob);
    for (const follower of [...this.followers]) follower.end();
    this.redirects.end();
    for (const link of this.#links.values()) link.end();
  }

  get globs(): Globs {
    return this.followers.globs;
  }

  routeOf(authority: string): Route | XdsError | undefined {
    return this.#routes.of(authority);
  }

  routeOfName(name: string): Route | undefined {
    return this.#routes.known(this.#authorityOf(name));
  }

  interestsOf({ typeUrl, asked, start }: Follower): readonly TypedInterest[] {
    if ("route" in start) return start.route.asks.ofReaders(typeUrl, start.key);
    return ("side" in start ? start.side.glob : { asked }).asked.map((interest) => ({
      typeUrl,
      interest,
    }));
  }

  parametersOf(authority: string): ReadonlyMap<string, string> | undefined {
    return this.#options.parametersOf?.(authority);
  }

  altOnUnreachable(authority: string): boolean {
    return this.#options.altOnUnreachable?.(authority) ?? false;
  }

  random(): number {
    return (this.#options.random ?? Math.random)();
  }

  owe(asks: readonly Ask[], link: ServerLink): void {
    this.#owing.add(asks, link);
  }

  settled(): void {
    this.#owing.pay();
  }

  foreign({ server }: ServerLink, typeUrl: string, { count, hash }: ForeignNames): void {
    const variant = server.config?.variant;
    this.#options.onEvent?.({
      kind: "foreign",
      server: server.name,
      typeUrl,
      names: count,
      namesHash: hash,
      ...(variant !== undefined && { variant }),
    });
  }

  /** Returns true if a subscriber waits until the servers of this authority are known. */
  #isWanted(authority: string): boolean {
    if (this.#readers.awaits(authority)) return true;
    for (const { unknown } of this.followers) if (unknown.includes(authority)) return true;
    for (const glob of this.globs) if (glob.lacks(authority)) return true;
    return false;
  }

  #onResolved(authority: string): void {
    this.#readers.resolved(authority);
    // Several followers may wait for an authority, since servers lead to further authorities.
    for (const follower of this.followers)
      if (follower.unknown.includes(authority)) follower.touch();
    for (const glob of this.globs) glob.touch();
    this.followers.settle();
  }

  #onExpired(redirect: FollowedRedirect): void {
    const { route, typeUrl, key, name, link } = redirect;
    this.redirects.drop(redirect);
    // Followers for which the redirect is one step on the way.
    for (const ask of route.asks.ofName(typeUrl, key)) if (route.asks.isFollowed(ask)) expire(ask);
    void link.part.commit({ remove: [{ typeUrl, name }] });
    this.followers.settle();
  }

  #openRoute(servers: readonly FederationServer[], reachabilityOnly: boolean): Route {
    return new Route(
      {
        clock: this.clock,
        users: this.users,
        part: this.#part(),
        recall,
        changed: (ask) => {
          this.redirects.serveFor(ask);
        },
      },
      { links: servers.map((server) => this.#linkTo(server)), reachabilityOnly },
    );
  }

  #linkTo(server: FederationServer): ServerLink {
    const known = this.#links.get(server.id);
    if (known !== undefined) return known;
    const link = new ServerLink(server, {
      clock: this.clock,
      idleMs: this.#options.idleMs ?? 10_000,
      part: () => this.#part(),
      sinkOf: (one) => createLinkSink(one, this),
      open: (one) => this.#options.servers?.open(one, this.#options.inWildcard) ?? one.open(),
    });
    this.#links.set(server.id, link);
    return link;
  }

  #part(): ResourceSink {
    return this.#sink.part?.() ?? this.#sink;
  }
}
