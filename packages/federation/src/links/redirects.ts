import type { Clock, Interest } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

import { covers } from "../routes/ask.ts";
import type { Ask, FollowedRedirect } from "../routes/route.ts";
import type { ServerLink } from "../routes/server-link.ts";
import type { Followers } from "./followers.ts";
import { hasAny } from "./kept.ts";

const NONE: ReadonlySet<FollowedRedirect> = new Set();

/** The redirects that servers have sent, and their followers. */
export class Redirects {
  readonly #clock: Clock;
  readonly #followers: Followers;
  /** Called when the TTL of a redirect has expired. */
  readonly #onExpired: (redirect: FollowedRedirect) => void;
  readonly #ofLink = new Map<ServerLink, Set<FollowedRedirect>>();
  #ended = false;

  constructor(clock: Clock, followers: Followers, onExpired: (redirect: FollowedRedirect) => void) {
    this.#clock = clock;
    this.#followers = followers;
    this.#onExpired = onExpired;
  }

  /** Returns the redirects that one server has sent. */
  from(link: ServerLink): ReadonlySet<FollowedRedirect> {
    return this.#ofLink.get(link) ?? NONE;
  }

  /** Adds a redirect, or replaces the one of the same name. */
  set(given: Omit<FollowedRedirect, "follower" | "expiry">, expireMs: number | undefined): void {
    if (this.#ended) return;
    const { route, typeUrl, key } = given;
    const before = route.redirect(typeUrl, key);
    if (before !== undefined) this.#unfile(before);
    const redirect: FollowedRedirect = { ...given, follower: before?.follower };
    route.redirects.set(typeUrl, { name: key }, key, redirect);
    const others = this.#ofLink.get(redirect.link) ?? new Set();
    this.#ofLink.set(redirect.link, others.add(redirect));
    this.expire(redirect, expireMs);
    this.serve(redirect);
    this.#touch(redirect);
  }

  /** Removes a redirect. `undefined`: the name was not a redirect. */
  drop(redirect: FollowedRedirect | undefined): void {
    if (redirect === undefined) return;
    const { route, typeUrl, key, follower } = redirect;
    route.redirects.delete(typeUrl, { name: key }, key);
    this.#unfile(redirect);
    follower?.end();
    this.#touch(redirect);
  }

  /** Stops the timers, and ignores later redirects: there are no readers any more. */
  end(): void {
    this.#ended = true;
    for (const redirects of this.#ofLink.values())
      for (const { expiry } of redirects) expiry?.cancel();
  }

  /** Restarts the TTL of a redirect. */
  expire(redirect: FollowedRedirect, expireMs: number | undefined): void {
    redirect.expiry?.cancel();
    redirect.expiry =
      expireMs === undefined
        ? undefined
        : this.#clock.after(expireMs, () => {
            this.#onExpired(redirect);
          });
  }

  /**
   * Follows a redirect while readers request its name, or a collection that contains it. Removes it
   * when it has neither readers nor followers.
   */
  serve(redirect: FollowedRedirect): void {
    const { route, typeUrl, key } = redirect;
    const covering = route.asks.covering(typeUrl, key, globOf(key));
    const direct = covering.filter((ask) => ask.direct);
    const interest = interestOf(
      redirect,
      direct.map((ask) => ask.interest),
    );
    if (direct.length > 0 && redirect.follower === undefined) {
      redirect.follower = this.#followers.add({
        typeUrl,
        interest,
        start: { route, key },
      });
      redirect.follower.stands = isHeld(redirect);
    }
    if (direct.length === 0) {
      redirect.follower?.end();
      redirect.follower = undefined;
    }
    redirect.follower?.readersChanged();
    if (covering.length === 0) this.drop(redirect);
  }

  /** Updates the redirects of a subscription whose users have changed. */
  serveFor({ route, typeUrl, kind, key }: Ask): void {
    const served =
      kind === "name"
        ? route.redirects.ofName(typeUrl, key)
        : [...route.redirects.ofType(typeUrl)].filter((redirect) =>
            covers({ kind, key }, redirect.key),
          );
    for (const redirect of served) this.serve(redirect);
  }

  #touch({ route, typeUrl, key, follower }: FollowedRedirect): void {
    follower?.touch();
    for (const { followers } of route.asks.ofName(typeUrl, key))
      for (const other of followers) other.touch();
  }

  #unfile(redirect: FollowedRedirect): void {
    redirect.expiry?.cancel();
    this.#ofLink.get(redirect.link)?.delete(redirect);
  }
}

/**
 * Returns the interest of a reader that requests the name, or the name as the server spelled it.
 */
function interestOf({ name, key }: FollowedRedirect, asked: readonly Interest[]): Interest {
  return asked.find((interest) => nameKey(interest.name) === key) ?? { name };
}

/** Returns true if an ordinary resource is still cached under the name. */
function isHeld({ route, typeUrl, name }: FollowedRedirect): boolean {
  return route.links.some(({ part }) => hasAny(part.held(typeUrl, { name })));
}
