import { interestKey, systemClock, XdsError, type Clock, type Interest, type ResourceSink, type TypedInterest } from "@xdstp/core";
import { isGlob, parseLocator, printLocator, type XdstpLocator } from "@xdstp/uri";

import type { FederationServer } from "./federation-source.ts";
import type { FederationOptions, FederationServerStatus, Trace } from "./federation.ts";
import type { FollowedRedirect } from "./links/followed-redirect.ts";
import { Follower } from "./links/follower.ts";
import { Followers, type FollowersHost } from "./links/followers.ts";
import { locatorFault } from "./links/locator-fault.ts";
import { Redirects } from "./links/redirects.ts";
import { covers, type Ask } from "./routes/ask.ts";
import type { LinkBooks } from "./routes/link-books.ts";
import { createLinkSink } from "./routes/link-sink.ts";
import { Owing } from "./routes/owing.ts";
import { createAuthorityReader } from "./routes/read-authority.ts";
import { recall, showKept } from "./routes/recall.ts";
import type { DirectedGlob } from "./globs/directed-glob.ts";
import type { Globs } from "./globs/globs.ts";
import { Route } from "./routes/route.ts";
import { Routes } from "./routes/routes.ts";
import { ServerLink } from "./routes/server-link.ts";

/** What readers begin and cease to want. */
export type Wanted = readonly [typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]];

/** A federation that runs. */
export class FederationRun implements LinkBooks, FollowersHost {
  readonly follow: boolean;
  readonly maxHops: number;
  readonly altOnMissing: boolean;
  readonly clock: Clock;
  readonly followers: Followers;
  readonly redirects: Redirects;
  readonly #options: FederationOptions;
  readonly #sink: ResourceSink;
  /** What is delivered under another name than its own. */
  readonly #linked: ResourceSink;
  readonly #links = new Map<string, ServerLink>();
  readonly #routes: Routes;
  readonly #owing = new Owing();
  readonly #authorityOf = createAuthorityReader();
  /** Names and globs with directives, by type and locator: each is one, with however many sets of parameters readers ask for it. */
  readonly #directed = new Map<string, Follower | DirectedGlob>();
  /** What waits for somebody to be found who answers for its authority. */
  readonly #homeless = new Map<string, Map<string, TypedInterest>>();

  constructor(options: FederationOptions, sink: ResourceSink) {
    this.#options = options;
    this.#sink = sink;
    this.#linked = this.#part();
    this.clock = options.clock ?? systemClock;
    this.follow = options.follow ?? true;
    this.maxHops = options.maxHops ?? 5;
    this.altOnMissing = options.altOn === "missing";
    this.followers = new Followers(this, this.#linked);
    this.redirects = new Redirects(this.clock, this.followers, (route, redirect) => { this.#onExpired(route, redirect); });
    this.#routes = new Routes({
      open: (servers, reachabilityOnly) => this.#openRoute(servers, reachabilityOnly),
      finding: options.resolveAuthority && {
        clock: this.clock, resolve: options.resolveAuthority, resolveMs: options.resolveMs ?? 15_000, random: () => this.random(),
        isWanted: (authority) => this.#isWanted(authority),
        changed: (authority) => { this.#onResolved(authority); },
      },
    }, options.sources);
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of added) this.#begin(typeUrl, interest);
    for (const interest of dropped) this.#end(typeUrl, interest);
    this.followers.settle();
  }

  status(configured: ReadonlyMap<string, { readonly name: string }>): readonly FederationServerStatus[] {
    const names = new Map([...configured, ...[...this.#links].map(([id, { server: { name } }]) => [id, { name }] as const)]);
    return [...names].map(([id, { name }]) => this.#statusOf(id, name));
  }

  statusOf(authority: string | null): readonly FederationServerStatus[] {
    return (this.#routes.known(authority)?.links ?? []).map(({ server: { id, name } }) => this.#statusOf(id, name));
  }

  traces(): readonly Trace[] {
    return Array.from(this.followers, ({ typeUrl, interest: { name }, outcome }) => ({
      typeUrl, name, state: outcome.state, hops: outcome.hops, ...("error" in outcome && { error: outcome.error }),
    }));
  }

  nodeChanged(): void {
    for (const link of this.#links.values()) link.nodeChanged();
  }

  end(): void {
    // Who is found for them from now on is not asked.
    this.#routes.end();
    this.#homeless.clear();
    for (const glob of [...this.globs]) this.globs.end(glob);
    for (const follower of [...this.followers]) this.followers.end(follower);
    for (const route of this.#routes) this.redirects.end(route);
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

  isCovered(route: Route, typeUrl: string, key: string, aliases?: readonly string[]): boolean {
    return route.asks.covering(typeUrl, key, aliases).some(({ direct }) => direct);
  }

  interestsOf({ typeUrl, asked, start }: Follower): readonly TypedInterest[] {
    if ("route" in start) return start.route.asks.covering(typeUrl, start.key).filter(({ direct }) => direct);
    return ("side" in start ? start.side.glob : { asked }).asked.map((interest) => ({ typeUrl, interest }));
  }

  parametersOf(authority: string): ReadonlyMap<string, string> | undefined {
    return this.#options.parametersOf?.(authority);
  }

  altOnUnreachable(authority: string): boolean {
    return this.#options.altOnUnreachable?.(authority) ?? false;
  }

  now(): number {
    return this.clock.now();
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

  foreign(link: ServerLink, typeUrl: string, names: number): void {
    this.#options.onEvent?.({ kind: "foreign", server: link.server.name, typeUrl, names });
  }

  reachable(link: ServerLink, error: XdsError | undefined): void {
    link.failure = error;
    if (error === undefined) this.#isWell(link);
    for (const route of [...link.routes]) {
      // Also an answer without anything in it ends the use of others.
      if (error === undefined && link.responded) route.onNews(link);
      route.onReachable();
    }
  }

  typeReachable(link: ServerLink, typeUrl: string, error: XdsError | undefined): void {
    if (error === undefined) this.#isWell(link, typeUrl);
    else link.typeFailures.set(typeUrl, error);
    for (const route of link.routes) route.onReachable();
  }

  /** What has been said of parts of it is over. */
  #isWell(link: ServerLink, typeUrl?: string): void {
    if (typeUrl === undefined) link.typeFailures.clear();
    else link.typeFailures.delete(typeUrl);
    link.part.unavailable(typeUrl === undefined ? {} : { typeUrl }, undefined);
    for (const route of link.routes) route.forgetTrouble(link, typeUrl);
  }

  #begin(typeUrl: string, interest: Interest): void {
    const locator = directedLocator(interest.name);
    if (locator !== undefined) { this.#beginDirected(typeUrl, interest, locator); return; }
    const authority = this.#authorityOf(interest.name);
    const route = this.#routes.of(authority);
    if (route instanceof Route) this.#beginDirect(route, typeUrl, interest, authority);
    else this.#beginHomeless(authority ?? "", typeUrl, interest, route);
  }

  #beginDirect(route: Route, typeUrl: string, interest: Interest, authority: string | null): void {
    const ask = route.ask(typeUrl, interest, authority);
    if (ask.direct) return;
    route.direct(ask, true);
    showKept(ask);
    if (ask.settled && route.last !== undefined) this.owe([ask], route.last);
  }

  /** Nobody is known who could be asked, or not yet. */
  #beginHomeless(authority: string, typeUrl: string, interest: Interest, error: XdsError | undefined): void {
    const waiting = this.#homeless.get(authority) ?? new Map<string, TypedInterest>();
    this.#homeless.set(authority, waiting.set(idOf(typeUrl, interest), { typeUrl, interest }));
    if (error !== undefined) this.#linked.unavailable({ typeUrl, interest }, error);
  }

  #beginDirected(typeUrl: string, interest: Interest, locator: XdstpLocator): void {
    const fault = locatorFault(typeUrl, locator);
    if (fault !== undefined) this.#linked.unavailable({ typeUrl, interest }, new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: interest.name }));
    else this.#askDirected(typeUrl, interest, locator);
  }

  #askDirected(typeUrl: string, interest: Interest, locator: XdstpLocator): void {
    const id = directedId(typeUrl, locator);
    const known = this.#directed.get(id);
    if (known !== undefined) this.#askedBy(known, [...known.asked, interest]);
    else this.#directed.set(id, isGlob(locator) ? this.globs.add({ typeUrl, interest }, locator) : this.followers.add({ typeUrl, interest, start: locator }));
  }

  #end(typeUrl: string, interest: Interest): void {
    const locator = directedLocator(interest.name);
    if (locator !== undefined) { this.#endDirected(typeUrl, interest, locator); return; }
    const authority = this.#authorityOf(interest.name);
    const ask = this.#routes.known(authority)?.find(typeUrl, interest);
    if (ask !== undefined) this.#endDirect(ask);
    this.#endHomeless(authority ?? "", typeUrl, interest);
  }

  #endDirect(ask: Ask): void {
    const { typeUrl, interest, unavailable } = ask;
    if (unavailable !== undefined) unavailable.link.part.unavailable({ typeUrl, interest }, undefined);
    ask.route.direct(ask, false);
  }

  #endHomeless(authority: string, typeUrl: string, interest: Interest): void {
    const waiting = this.#homeless.get(authority);
    if (waiting?.delete(idOf(typeUrl, interest)) !== true) return;
    if (waiting.size === 0) this.#homeless.delete(authority);
    this.#linked.unavailable({ typeUrl, interest }, undefined);
  }

  #endDirected(typeUrl: string, interest: Interest, locator: XdstpLocator): void {
    const id = directedId(typeUrl, locator);
    const known = this.#directed.get(id);
    if (known === undefined) { this.#linked.unavailable({ typeUrl, interest }, undefined); return; }
    const left = known.asked.filter((other) => interestKey(other, "") !== interestKey(interest, ""));
    if (left.length > 0) { this.#askedBy(known, left); return; }
    this.#directed.delete(id);
    if (known instanceof Follower) this.followers.end(known);
    else this.globs.end(known);
  }

  #askedBy(known: Follower | DirectedGlob, asked: readonly Interest[]): void {
    if (known instanceof Follower) this.followers.askedBy(known, asked);
    else this.globs.askedBy(known, asked);
  }

  /** What leads elsewhere is followed for as long as readers ask for it. */
  #serve({ route, typeUrl, kind, key }: Ask): void {
    const redirects = route.redirects.get(typeUrl);
    if (redirects === undefined) return;
    const own = redirects.get(key);
    const served = kind === "name" ? own === undefined ? [] : [own] : [...redirects.values()].filter((redirect) => covers({ kind, key }, redirect.key));
    for (const redirect of served) this.redirects.serve(route, redirect);
  }

  /** Somebody waits for it to be known who answers for it. */
  #isWanted(authority: string): boolean {
    if (this.#homeless.has(authority)) return true;
    for (const { unknown } of this.followers) if (unknown.includes(authority)) return true;
    for (const glob of this.globs) if (glob.lacks(authority)) return true;
    return false;
  }

  #onResolved(authority: string): void {
    const waiting = [...this.#homeless.get(authority)?.values() ?? []];
    const route = this.#routes.of(authority);
    if (route instanceof Route) this.#homeless.delete(authority);
    for (const { typeUrl, interest } of waiting) {
      if (route instanceof Route) this.#linked.unavailable({ typeUrl, interest }, undefined);
      if (route instanceof Route) this.#beginDirect(route, typeUrl, interest, authority);
      else this.#beginHomeless(authority, typeUrl, interest, route);
    }
    // There may be many, as servers lead to more authorities.
    this.followers.touch([...this.followers].filter(({ unknown }) => unknown.includes(authority)));
    for (const glob of this.globs) glob.touch();
    this.followers.settle();
  }

  #onExpired(route: Route, { typeUrl, key, name, link }: FollowedRedirect): void {
    this.redirects.drop(route, typeUrl, key);
    void link.part.commit({ remove: [{ typeUrl, name }] });
    this.followers.settle();
  }

  #statusOf(id: string, name: string): FederationServerStatus {
    const { status, failure } = this.#links.get(id) ?? {};
    return { id, name, ...(status !== undefined && { status }), ...(failure !== undefined && { failure }) };
  }

  #openRoute(servers: readonly FederationServer[], reachabilityOnly: boolean): Route {
    return new Route({
      clock: this.clock, part: this.#part(), recall,
      touch: (followers) => { this.followers.touch(followers); },
      touchSides: (sides) => { this.globs.touch(sides); },
      changed: (ask) => { this.#serve(ask); },
    }, { links: servers.map((server) => this.#linkTo(server)), reachabilityOnly });
  }

  #linkTo(server: FederationServer): ServerLink {
    const known = this.#links.get(server.id);
    if (known !== undefined) return known;
    const link = new ServerLink(server, {
      clock: this.clock, idleMs: this.#options.idleMs ?? 10_000,
      part: () => this.#part(), sinkOf: (one) => createLinkSink(one, this), open: (one) => this.#options.servers?.open(one) ?? one.open(),
    });
    this.#links.set(server.id, link);
    return link;
  }

  #part(): ResourceSink {
    return this.#sink.part?.() ?? this.#sink;
  }
}

function idOf(typeUrl: string, interest: Interest): string {
  return `${typeUrl}\n${interestKey(interest, interest.name)}`;
}

function directedId(typeUrl: string, locator: XdstpLocator): string {
  return `${typeUrl}\n${printLocator(locator)}`;
}

/** undefined: it has no directives. */
function directedLocator(name: string): XdstpLocator | undefined {
  const parsed = name.startsWith("xdstp:") && name.includes("#") ? parseLocator(name) : undefined;
  return parsed?.ok === true && parsed.value.scheme === "xdstp" && parsed.value.directives.length > 0 ? parsed.value : undefined;
}
