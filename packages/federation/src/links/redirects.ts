import type { Clock, Interest } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

import { covers } from "../routes/ask.ts";
import type { Ask, FollowedRedirect, Route } from "../routes/route.ts";
import type { ServerLink } from "../routes/server-link.ts";
import type { Followers } from "./followers.ts";

const NONE: ReadonlySet<FollowedRedirect> = new Set();

/** The names that lead elsewhere, as servers say, and who follows them. */
export class Redirects {
  readonly #clock: Clock;
  readonly #followers: Followers;
  /** What readers do when the time of one is over. */
  readonly #onExpired: (route: Route, redirect: FollowedRedirect) => void;
  readonly #ofLink = new Map<ServerLink, Set<FollowedRedirect>>();
  #ended = false;

  constructor(
    clock: Clock,
    followers: Followers,
    onExpired: (route: Route, redirect: FollowedRedirect) => void,
  ) {
    this.#clock = clock;
    this.#followers = followers;
    this.#onExpired = onExpired;
  }

  /** Names that lead elsewhere and have come from one server. */
  from(link: ServerLink): ReadonlySet<FollowedRedirect> {
    return this.#ofLink.get(link) ?? NONE;
  }

  /** A name leads elsewhere from now on, or to another place than before. */
  set(
    route: Route,
    given: Omit<FollowedRedirect, "follower" | "expiry" | "place">,
    expireMs: number | undefined,
  ): void {
    if (this.#ended) return;
    const { typeUrl, key } = given;
    const before = route.redirect(typeUrl, key);
    if (before !== undefined) this.#unfile(before);
    const redirect: FollowedRedirect = {
      ...given,
      place: { route, key },
      follower: before?.follower,
    };
    route.redirects.set(typeUrl, { name: key }, key, redirect);
    const others = this.#ofLink.get(redirect.link) ?? new Set();
    this.#ofLink.set(redirect.link, others.add(redirect));
    this.expire(route, redirect, expireMs);
    this.serve(route, redirect);
    this.#touch(route, redirect);
  }

  /** It leads nowhere else any more. false: it did not. */
  drop(route: Route, typeUrl: string, key: string): boolean {
    const redirect = route.redirect(typeUrl, key);
    if (redirect === undefined) return false;
    route.redirects.delete(typeUrl, { name: key }, key);
    this.#unfile(redirect);
    redirect.follower?.end();
    this.#touch(route, redirect);
    return true;
  }

  /** Stops following them, and ignores what servers still send: they have no readers. */
  end(route: Route): void {
    this.#ended = true;
    for (const redirect of route.redirects) redirect.expiry?.cancel();
  }

  /** Its time begins again. */
  expire(route: Route, redirect: FollowedRedirect, expireMs: number | undefined): void {
    redirect.expiry?.cancel();
    redirect.expiry =
      expireMs === undefined
        ? undefined
        : this.#clock.after(expireMs, () => {
            this.#onExpired(route, redirect);
          });
  }

  /** Follows it as long as readers ask for its name, or for a collection that it is in; keeps it as long as anybody does. */
  serve(route: Route, redirect: FollowedRedirect): void {
    const covering = route.asks.covering(redirect.typeUrl, redirect.key, globOf(redirect.key));
    const direct = covering.filter((ask) => ask.direct);
    const interest = interestOf(
      redirect,
      direct.map((ask) => ask.interest),
    );
    if (direct.length > 0 && redirect.follower === undefined) {
      redirect.follower = this.#followers.add({
        typeUrl: redirect.typeUrl,
        interest,
        start: redirect.place,
      });
      redirect.follower.stands = isHeld(route, redirect);
    }
    if (direct.length === 0) {
      redirect.follower?.end();
      redirect.follower = undefined;
    }
    redirect.follower?.readersChanged();
    if (covering.length === 0) this.drop(route, redirect.typeUrl, redirect.key);
  }

  /** Others have a use for an ask than before: what leads elsewhere of it is followed for as long as readers do. */
  serveFor({ route, typeUrl, kind, key }: Ask): void {
    const served =
      kind === "name"
        ? route.redirects.ofName(typeUrl, key)
        : [...route.redirects.ofType(typeUrl)].filter((redirect) =>
            covers({ kind, key }, redirect.key),
          );
    for (const redirect of served) this.serve(route, redirect);
  }

  #touch(route: Route, { typeUrl, key, follower }: FollowedRedirect): void {
    follower?.touch();
    for (const { followers } of route.asks.ofName(typeUrl, key))
      for (const other of followers) other.touch();
  }

  #unfile(redirect: FollowedRedirect): void {
    redirect.expiry?.cancel();
    this.#ofLink.get(redirect.link)?.delete(redirect);
  }
}

/** As a reader asks for the name, else as it came. */
function interestOf({ name, key }: FollowedRedirect, asked: readonly Interest[]): Interest {
  return asked.find((interest) => nameKey(interest.name) === key) ?? { name };
}

/** Something that leads nowhere else has been delivered under its name. */
function isHeld({ links }: Route, { typeUrl, name }: FollowedRedirect): boolean {
  return links.some((link) => {
    for (const _ of link.part.held(typeUrl, { name })) return true;
    return false;
  });
}
