import {
  type Interest,
  interestKey,
  InterestMap,
  type ResourceSink,
  type TypedInterest,
  XdsError,
} from "@xdstp/core";
import { isGlob, parseLocator, printLocator, type XdstpLocator } from "@xdstp/uri";

import type { DirectedGlob } from "../globs/directed-glob.ts";
import { Follower } from "../links/follower.ts";
import type { Followers } from "../links/followers.ts";
import { locatorFault } from "../links/locator-of.ts";
import { createAuthorityReader } from "../routes/authority-finder.ts";
import { showKept } from "../routes/recall.ts";
import { type Ask, Route } from "../routes/route.ts";
import type { Routes } from "../routes/routes.ts";
import type { ServerLink } from "../routes/server-link.ts";

/** The parts of a federation that readers use. */
interface ReadersHost {
  readonly routes: Routes;
  readonly followers: Followers;
  /** The sink for resources that are delivered under another name than their own. */
  readonly linked: ResourceSink;
  /**
   * Reports subscriptions that are known, except for members that lead elsewhere and whose result
   * is not known yet.
   */
  owe(asks: readonly Ask[], link: ServerLink): void;
}

/**
 * The subscriptions of readers: names without directives, names with directives, and names without
 * a known server.
 */
export class Readers {
  readonly #host: ReadersHost;
  readonly #authorityOf = createAuthorityReader();
  readonly #directed: Directed;
  readonly #homeless: Homeless;

  constructor(host: ReadersHost) {
    this.#host = host;
    this.#directed = new Directed(host.followers, host.linked);
    this.#homeless = new Homeless(host.linked);
  }

  begin(asked: TypedInterest): void {
    const locator = directedLocator(asked.interest.name);
    if (locator !== undefined) {
      this.#directed.begin(asked, locator);
      return;
    }
    const authority = this.#authorityOf(asked.interest.name);
    const route = this.#host.routes.of(authority);
    if (route instanceof Route) this.#ask(route, asked, authority);
    else this.#homeless.add(authority, asked, route);
  }

  end(asked: TypedInterest): void {
    const locator = directedLocator(asked.interest.name);
    if (locator !== undefined) {
      this.#directed.end(asked, locator);
      return;
    }
    const authority = this.#authorityOf(asked.interest.name);
    const ask = this.#host.routes.known(authority)?.find(asked.typeUrl, asked.interest);
    if (ask !== undefined) unask(ask);
    this.#homeless.drop(authority, asked);
  }

  /** Returns true if subscribers wait until the servers of an authority are known. */
  awaits(authority: string): boolean {
    return this.#homeless.has(authority);
  }

  /** Called when the search for the servers of an authority has a result. */
  resolved(authority: string): void {
    const route = this.#host.routes.of(authority);
    if (route instanceof Route)
      for (const asked of this.#homeless.take(authority)) this.#ask(route, asked, authority);
    else this.#homeless.tell(authority, route);
  }

  /** Forgets the waiting subscriptions: sources that are found from now on are not used. */
  clear(): void {
    this.#homeless.clear();
  }

  #ask(route: Route, { typeUrl, interest }: TypedInterest, authority: string | null): void {
    const ask = route.asks.open(typeUrl, interest, authority);
    if (ask.direct) return;
    route.asks.direct(ask, true);
    showKept(ask);
    if (ask.settled && route.last !== undefined) this.#host.owe([ask], route.last);
  }
}

function unask(ask: Ask): void {
  const { typeUrl, interest, unavailable } = ask;
  if (unavailable !== undefined)
    unavailable.link.part.unavailable({ typeUrl, interest }, undefined);
  ask.route.asks.direct(ask, false);
}

/** The subscriptions that wait until the servers of their authority are known (C-AUTH-5). */
class Homeless {
  readonly #sink: ResourceSink;
  readonly #waiting = new Map<string | null, InterestMap<TypedInterest>>();

  constructor(sink: ResourceSink) {
    this.#sink = sink;
  }

  /** Returns true if a subscription of the authority waits. */
  has(authority: string): boolean {
    return this.#waiting.has(authority);
  }

  /**
   * @param authority - null: an opaque name, whose servers are not searched
   * @param error - The reason why no server is known. undefined: the search has not ended yet
   */
  add(
    authority: string | null,
    { typeUrl, interest }: TypedInterest,
    error: XdsError | undefined,
  ): void {
    const waiting = this.#waiting.get(authority) ?? new InterestMap();
    waiting.set(typeUrl, interest, interest.name, { typeUrl, interest });
    this.#waiting.set(authority, waiting);
    if (error !== undefined) this.#sink.unavailable({ typeUrl, interest }, error);
  }

  drop(authority: string | null, { typeUrl, interest }: TypedInterest): void {
    const waiting = this.#waiting.get(authority);
    if (waiting?.delete(typeUrl, interest, interest.name) !== true) return;
    if (waiting.size === 0) this.#waiting.delete(authority);
    this.#sink.unavailable({ typeUrl, interest }, undefined);
  }

  /** Reports the reason why no server was found to the subscriptions of an authority. */
  tell(authority: string, error: XdsError | undefined): void {
    for (const waiting of this.#waiting.get(authority) ?? []) this.add(authority, waiting, error);
  }

  /** Removes and returns the subscriptions of an authority whose servers are known now. */
  take(authority: string): readonly TypedInterest[] {
    const waiting = [...(this.#waiting.get(authority) ?? [])];
    this.#waiting.delete(authority);
    for (const { typeUrl, interest } of waiting)
      this.#sink.unavailable({ typeUrl, interest }, undefined);
    return waiting;
  }

  clear(): void {
    this.#waiting.clear();
  }
}

/**
 * Names and globs with directives that readers request. Each is one, with any number of sets of
 * parameters.
 */
class Directed {
  readonly #followers: Followers;
  readonly #sink: ResourceSink;
  /** By type and locator. */
  readonly #asked = new Map<string, Follower | DirectedGlob>();

  constructor(followers: Followers, sink: ResourceSink) {
    this.#followers = followers;
    this.#sink = sink;
  }

  begin({ typeUrl, interest }: TypedInterest, locator: XdstpLocator): void {
    const fault = locatorFault(typeUrl, locator);
    if (fault === undefined) this.#ask({ typeUrl, interest }, locator);
    else
      this.#sink.unavailable(
        { typeUrl, interest },
        new XdsError("INVALID_ARGUMENT", fault.text, {
          typeUrl,
          resource: interest.name,
          rule: fault.rule,
        }),
      );
  }

  end({ typeUrl, interest }: TypedInterest, locator: XdstpLocator): void {
    const id = idOf(typeUrl, locator);
    const known = this.#asked.get(id);
    if (known === undefined) {
      this.#sink.unavailable({ typeUrl, interest }, undefined);
      return;
    }
    const left = known.asked.filter(
      (other) => interestKey(other, "") !== interestKey(interest, ""),
    );
    if (left.length > 0) {
      this.#askedBy(known, left);
      return;
    }
    this.#asked.delete(id);
    if (known instanceof Follower) known.end();
    else this.#followers.globs.end(known);
  }

  #ask(asked: TypedInterest, locator: XdstpLocator): void {
    const id = idOf(asked.typeUrl, locator);
    const known = this.#asked.get(id);
    if (known !== undefined) this.#askedBy(known, [...known.asked, asked.interest]);
    else
      this.#asked.set(
        id,
        isGlob(locator)
          ? this.#followers.globs.add(asked, locator)
          : this.#followers.add({ ...asked, start: locator }),
      );
  }

  #askedBy(known: Follower | DirectedGlob, asked: readonly Interest[]): void {
    if (known instanceof Follower) this.#followers.askedBy(known, asked);
    else this.#followers.globs.askedBy(known, asked);
  }
}

/** Returns `undefined` if the name has no directives. */
function directedLocator(name: string): XdstpLocator | undefined {
  const parsed = name.startsWith("xdstp:") && name.includes("#") ? parseLocator(name) : undefined;
  return parsed?.ok === true &&
    parsed.value.scheme === "xdstp" &&
    parsed.value.directives.length > 0
    ? parsed.value
    : undefined;
}

function idOf(typeUrl: string, locator: XdstpLocator): string {
  return `${typeUrl}\n${printLocator(locator)}`;
}
