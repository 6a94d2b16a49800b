import { interestKey, type Clock, type Interest, type ResourceSink, type XdsError } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

import type { Follower } from "../links/follower.ts";
import type { FollowedRedirect } from "../links/followed-redirect.ts";
import { createAsk, type Ask } from "./ask.ts";
import type { ServerLink } from "./server-link.ts";

/** What a route needs of its federation. */
export interface RouteHost {
  readonly clock: Clock;
  /** What this route says of its supply. */
  readonly part: ResourceSink;
  /** Something that these follow has changed. */
  touch(followers: Iterable<Follower>): void;
  /** What came of an ask that was answered under its own name until now. */
  recall(ask: Ask): void;
}

/** How a route chooses among its servers. */
export interface RouteOptions {
  readonly links: readonly ServerLink[];
  /** C-GRPC-7 */
  readonly reachabilityOnly: boolean;
}

const NONE: readonly never[] = [];

/**
 * Servers in order of preference, for one or more authorities, and what is asked of them. A connectivity error while something that is wanted is not cached brings the next server into use, beside those before it;
 * the first that comes from one of these ends the use of the later ones (C-GRPC-6).
 */
export class Route {
  readonly links: readonly ServerLink[];
  /** Names that lead elsewhere, by type and key. */
  readonly redirects: Map<string, Map<string, FollowedRedirect>> = new Map<string, Map<string, FollowedRedirect>>();
  /** Why none of its servers can be reached. */
  failure: XdsError | undefined;
  readonly #host: RouteHost;
  readonly #reachabilityOnly: boolean;
  /** Those whose names it has been asked for; null: opaque names. */
  readonly #authorities = new Set<string | null>();
  readonly #asks = new Map<string, Map<string, readonly Ask[]>>();
  readonly #followed = new Set<Ask>();
  readonly #unanswered = new Set<Ask>();
  readonly #troubled = new Set<Ask>();
  #size = 0;
  #used = 0;

  constructor(host: RouteHost, { links, reachabilityOnly }: RouteOptions) {
    this.#host = host;
    this.links = links;
    this.#reachabilityOnly = reachabilityOnly;
  }

  /** Nothing leads elsewhere, and all that is asked for is handed on as it comes. */
  get plain(): boolean {
    return this.#followed.size + this.redirects.size === 0;
  }

  /** Asks for something, unless it is asked for already. */
  ask(typeUrl: string, interest: Interest, authority: string | null): Ask {
    const key = nameKey(interest.name);
    const known = this.find(typeUrl, interest, key);
    if (known !== undefined) return known;
    const ask = createAsk(this, typeUrl, interest, key, this.#host.clock, ({ followers }) => { this.#host.touch(followers); });
    const asks = this.#asks.get(typeUrl) ?? new Map<string, readonly Ask[]>();
    this.#asks.set(typeUrl, asks.set(key, [...asks.get(key) ?? NONE, ask]));
    this.#unanswered.add(ask);
    this.#speakFor(authority);
    if (this.#size++ === 0) this.#use();
    else for (const link of this.links.slice(0, this.#used)) link.want(typeUrl, interest, key);
    this.#fallBack();
    return ask;
  }

  /** Ends an ask that nobody has a use for any more. */
  release(ask: Ask): void {
    if (ask.direct || ask.followers.size > 0) return;
    const asks = this.#asks.get(ask.typeUrl);
    const left = (asks?.get(ask.key) ?? NONE).filter((other) => other !== ask);
    if (left.length > 0) asks?.set(ask.key, left);
    else asks?.delete(ask.key);
    if (asks?.size === 0) this.#asks.delete(ask.typeUrl);
    ask.kept.clear();
    for (const asked of [this.#unanswered, this.#troubled, this.#followed]) asked.delete(ask);
    for (const link of this.links.slice(0, this.#used)) link.unwant(ask.typeUrl, ask.interest, ask.key);
    if (--this.#size === 0) this.#leave(0);
  }

  follow(ask: Ask, follower: Follower): void {
    if (ask.followers.size === 0) this.#host.recall(ask);
    ask.followers.add(follower);
    this.#followed.add(ask);
  }

  unfollow(ask: Ask, follower: Follower): void {
    ask.followers.delete(follower);
    if (ask.followers.size > 0) return;
    this.#followed.delete(ask);
    ask.kept.clear();
    this.release(ask);
  }

  find(typeUrl: string, interest: Interest, key: string = nameKey(interest.name)): Ask | undefined {
    const asks = this.of(typeUrl, key);
    if (asks.length === 1 && interest.parameters === undefined && asks[0]?.interest.parameters === undefined) return asks[0];
    const id = interestKey(interest, key);
    return asks.find((ask) => interestKey(ask.interest, key) === id);
  }

  /** What is asked of one name, whatever the parameters. */
  of(typeUrl: string, key: string): readonly Ask[] {
    return this.#asks.get(typeUrl)?.get(key) ?? NONE;
  }

  /** What is a step on the way to something else. */
  get followed(): Iterable<Ask> {
    return this.#followed;
  }

  /** What covers a name: itself, its aliases, its glob, the wildcard. */
  covering(typeUrl: string, key: string, aliases: readonly string[] = NONE): readonly Ask[] {
    const glob = key.startsWith("xdstp:") ? globOf(key) : undefined;
    return [...this.of(typeUrl, key), ...aliases.flatMap((alias) => this.of(typeUrl, nameKey(alias))), ...glob === undefined ? NONE : this.of(typeUrl, glob), ...this.of(typeUrl, "*")];
  }

  redirect(typeUrl: string, key: string): FollowedRedirect | undefined {
    return this.redirects.get(typeUrl)?.get(key);
  }

  /** Something of these is known. */
  answered(asks: Iterable<Ask>): void {
    for (const ask of asks) {
      ask.answered = true;
      this.#unanswered.delete(ask);
    }
  }

  /** Whether it matters that something is known. */
  get waits(): boolean {
    return this.#unanswered.size > 0;
  }

  /** Asks of which one server has said that they cannot be had for now; without an error, that they can. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    ask.unavailable = error === undefined ? undefined : { link, error };
    if (error === undefined) this.#troubled.delete(ask);
    else this.#troubled.add(ask);
    this.#host.touch(ask.followers);
  }

  uses(link: ServerLink): boolean {
    return this.links.indexOf(link) < this.#used && this.links.includes(link);
  }

  /** It is the one that is asked last, so that nobody else has to say anything. */
  isLast(link: ServerLink): boolean {
    return this.links[this.#used - 1] === link;
  }

  /** Another server is asked beside it for the same names, or may be before it answers. */
  isContested(link: ServerLink): boolean {
    return this.links.length > 1 && (link.failure !== undefined || !this.isLast(link));
  }

  /** What is concluded from the silence of a server that has come back ends no other one's use. */
  counts(link: ServerLink): boolean {
    return this.isLast(link) || link.responded;
  }

  /** Something has come from a server: later ones have had their time. */
  onNews(link: ServerLink): void {
    const used = this.links.indexOf(link) + 1;
    if (used < this.#used) this.#leave(used);
    this.#tell();
  }

  /** A server has failed, or has answered, whatever it is. */
  onReachable(link: ServerLink): void {
    if (link.failure === undefined) for (const ask of this.#troubled) if (ask.unavailable?.link === link) this.trouble(ask, link, undefined);
    this.#fallBack();
    this.#tell();
  }

  #use(): void {
    const link = this.links[this.#used++];
    if (link === undefined) return;
    link.routes.add(this);
    for (const asks of this.#asks.values()) for (const same of asks.values()) for (const { typeUrl, interest, key } of same) link.want(typeUrl, interest, key);
  }

  /** Only so many are used from now on. */
  #leave(used: number): void {
    for (const link of this.links.slice(used, this.#used)) {
      link.routes.delete(this);
      for (const asks of this.#asks.values()) for (const same of asks.values()) for (const { typeUrl, interest, key } of same) link.unwant(typeUrl, interest, key);
      for (const ask of this.#troubled) if (ask.unavailable?.link === link) this.trouble(ask, link, undefined);
      link.forget(this.#authorities);
      if (used > 0) link.retire();
    }
    this.#used = used;
    if (used === 0) this.#tell();
  }

  /** Asks the next server, if the last one in use has failed and something is missing. */
  #fallBack(): void {
    while (this.#used > 0 && this.#used < this.links.length && this.links[this.#used - 1]?.failure !== undefined && (this.#reachabilityOnly || this.waits)) this.#use();
  }

  /** A reader hears of failures only when there is nobody left to ask. */
  #tell(): void {
    const failures = this.links.map(({ failure }) => failure);
    const failure = this.#used === 0 || failures.includes(undefined) ? undefined : failures.at(-1);
    if (failure === this.failure) return;
    this.failure = failure;
    for (const authority of this.#authorities) this.#host.part.unavailable({ authority }, failure);
    for (const { followers } of this.#followed) this.#host.touch(followers);
  }

  #speakFor(authority: string | null): void {
    if (this.#authorities.has(authority)) return;
    this.#authorities.add(authority);
    if (this.failure !== undefined) this.#host.part.unavailable({ authority }, this.failure);
  }
}
