import { interestKey, systemClock, XdsError, type Clock, type Interest, type ResourceSink, type TypedInterest } from "@xdstp/core";
import { parseLocator, type XdstpLocator } from "@xdstp/uri";

import type { FederationServer } from "./federation-source.ts";
import type { FederationOptions, FederationServerStatus, Trace } from "./federation.ts";
import type { FollowedRedirect } from "./links/followed-redirect.ts";
import type { Follower } from "./links/follower.ts";
import { Followers, type FollowersHost } from "./links/followers.ts";
import { locatorFault } from "./links/locator-fault.ts";
import { Redirects } from "./links/redirects.ts";
import { covers, type Ask } from "./routes/ask.ts";
import type { LinkBooks } from "./routes/link-books.ts";
import { createLinkSink } from "./routes/link-sink.ts";
import { Owing } from "./routes/owing.ts";
import { createAuthorityReader } from "./routes/read-authority.ts";
import { recall, showKept } from "./routes/recall.ts";
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
  /** Names with directives. */
  readonly #directed = new Map<string, Follower>();
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
      resolve: options.resolveAuthority,
      resolved: (authority) => { this.#onResolved(authority); },
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
    for (const follower of [...this.followers]) this.followers.end(follower);
    for (const link of this.#links.values()) link.end();
  }

  routeOf(authority: string): Route | XdsError | undefined {
    return this.#routes.of(authority);
  }

  routeOfName(name: string): Route | undefined {
    return this.#routes.known(this.#authorityOf(name));
  }

  isCovered(route: Route, typeUrl: string, key: string, aliases?: readonly string[]): boolean {
    return route.covering(typeUrl, key, aliases).some(({ direct }) => direct);
  }

  interestsOf({ typeUrl, interest, start }: Follower): readonly TypedInterest[] {
    return "route" in start ? start.route.covering(typeUrl, start.key).filter(({ direct }) => direct) : [{ typeUrl, interest }];
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
    if (error === undefined) link.part.unavailable({}, undefined);
    for (const route of link.routes) route.onReachable(link);
  }

  #begin(typeUrl: string, interest: Interest): void {
    const locator = directedLocator(interest.name);
    if (locator !== undefined) { this.#beginDirected(typeUrl, interest, locator); return; }
    const authority = this.#authorityOf(interest.name);
    if (authority !== null) this.#routes.forget(authority);
    const route = this.#routes.of(authority);
    if (route instanceof Route) this.#beginDirect(route, typeUrl, interest, authority);
    else this.#beginHomeless(authority ?? "", typeUrl, interest, route);
  }

  #beginDirect(route: Route, typeUrl: string, interest: Interest, authority: string | null): void {
    const ask = route.ask(typeUrl, interest, authority);
    if (ask.direct) return;
    ask.direct = true;
    for (const followed of route.followed) if (followed.typeUrl === typeUrl && covers(ask, followed.key)) showKept(followed);
    this.#serve(route, ask);
  }

  /** Nobody is known who could be asked, or not yet. */
  #beginHomeless(authority: string, typeUrl: string, interest: Interest, error: XdsError | undefined): void {
    const waiting = this.#homeless.get(authority) ?? new Map<string, TypedInterest>();
    this.#homeless.set(authority, waiting.set(idOf(typeUrl, interest), { typeUrl, interest }));
    if (error !== undefined) this.#linked.unavailable({ typeUrl, interest }, error);
  }

  #beginDirected(typeUrl: string, interest: Interest, locator: XdstpLocator): void {
    const fault = locatorFault(typeUrl, locator);
    if (fault === undefined) this.#directed.set(idOf(typeUrl, interest), this.followers.add({ typeUrl, interest, start: locator }));
    else this.#linked.unavailable({ typeUrl, interest }, new XdsError("INVALID_ARGUMENT", fault, { typeUrl, resource: interest.name }));
  }

  #end(typeUrl: string, interest: Interest): void {
    const id = idOf(typeUrl, interest);
    const follower = this.#directed.get(id);
    if (follower !== undefined) {
      this.#directed.delete(id);
      this.followers.end(follower);
      return;
    }
    const authority = this.#authorityOf(interest.name);
    const route = this.#routes.known(authority);
    const ask = route?.find(typeUrl, interest);
    if (route !== undefined && ask !== undefined) this.#endDirect(route, ask);
    if (this.#homeless.get(authority ?? "")?.delete(id) === true || directedLocator(interest.name) !== undefined) this.#linked.unavailable({ typeUrl, interest }, undefined);
  }

  #endDirect(route: Route, ask: Ask): void {
    ask.direct = false;
    if (ask.unavailable !== undefined) ask.unavailable.link.part.unavailable({ typeUrl: ask.typeUrl, interest: ask.interest }, undefined);
    route.release(ask);
    this.#serve(route, ask);
  }

  /** What leads elsewhere is followed for as long as readers ask for it. */
  #serve(route: Route, ask: Ask): void {
    for (const redirect of [...route.redirects.get(ask.typeUrl)?.values() ?? []]) if (covers(ask, redirect.key)) this.redirects.serve(route, redirect);
  }

  #onResolved(authority: string): void {
    const waiting = [...this.#homeless.get(authority)?.values() ?? []];
    this.#homeless.delete(authority);
    const route = this.#routes.of(authority);
    for (const { typeUrl, interest } of waiting) {
      if (route instanceof Route) this.#beginDirect(route, typeUrl, interest, authority);
      else this.#beginHomeless(authority, typeUrl, interest, route);
    }
    this.followers.touch(this.followers);
    this.followers.settle();
  }

  #onExpired(route: Route, { typeUrl, key, name, link }: FollowedRedirect): void {
    this.redirects.drop(route, typeUrl, key);
    void link.part.commit({ remove: [{ typeUrl, name }] });
    this.followers.settle();
  }

  #statusOf(id: string, name: string): FederationServerStatus {
    const { status, failure } = this.#links.get(id) ?? {};
    return { name, ...(status !== undefined && { status }), ...(failure !== undefined && { failure }) };
  }

  #openRoute(servers: readonly FederationServer[], reachabilityOnly: boolean): Route {
    return new Route({
      clock: this.clock, part: this.#part(), recall,
      touch: (followers) => { this.followers.touch(followers); },
    }, { links: servers.map((server) => this.#linkTo(server)), reachabilityOnly });
  }

  #linkTo(server: FederationServer): ServerLink {
    const known = this.#links.get(server.id);
    if (known !== undefined) return known;
    const link = new ServerLink(server, {
      clock: this.clock, idleMs: this.#options.idleMs ?? 10_000,
      part: () => this.#part(), sinkOf: (one) => createLinkSink(one, this),
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

/** undefined: it has no directives. */
function directedLocator(name: string): XdstpLocator | undefined {
  const parsed = name.startsWith("xdstp:") && name.includes("#") ? parseLocator(name) : undefined;
  return parsed?.ok === true && parsed.value.scheme === "xdstp" && parsed.value.directives.length > 0 ? parsed.value : undefined;
}
