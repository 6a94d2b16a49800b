import { covers } from "./ask.ts";
import type { Ask, FollowedRedirect } from "./route.ts";
import type { ServerLink } from "./server-link.ts";

interface Owed {
  readonly link: ServerLink;
  /**
   * Members whose result was not known. Only the last one is checked until its result is known, so
   * each is checked once.
   */
  pending: FollowedRedirect[];
}

/**
 * Collections that are known completely, except for the results of some members that lead
 * elsewhere. They are settled when these are known too.
 */
export class Owing {
  readonly #owed = new Map<Ask, Owed>();

  add(asks: readonly Ask[], link: ServerLink): void {
    for (const ask of asks) this.#owed.set(ask, { link, pending: [] });
  }

  /** Settles the collections that have no pending members any more. */
  pay(): void {
    for (const [ask, owed] of this.#owed) {
      const { link } = owed;
      const isLeft = !ask.direct || !ask.route.uses(link);
      if (!isLeft && isPending(ask, owed)) continue;
      this.#owed.delete(ask);
      if (!isLeft)
        void link.part.commit({ settled: [{ typeUrl: ask.typeUrl, interest: ask.interest }] });
    }
  }
}

/** Returns true if members of a collection lead elsewhere. */
export function isLeadingElsewhere({ route, typeUrl, kind, key }: Ask): boolean {
  return (
    kind !== "name" &&
    route.redirects.ofType(typeUrl).some((redirect) => covers({ kind, key }, redirect.key))
  );
}

/** Checks the recorded members first, and then all others, which may have become pending since. */
function isPending(ask: Ask, owed: Owed): boolean {
  if (hasPending(ask, owed.pending)) return true;
  owed.pending = [...ask.route.redirects.ofType(ask.typeUrl)].filter(
    (redirect) => isOpen(ask, redirect) && covers(ask, redirect.key),
  );
  return owed.pending.length > 0;
}

function hasPending(ask: Ask, pending: FollowedRedirect[]): boolean {
  for (let last = pending.at(-1); last !== undefined; last = pending.at(-1)) {
    if (isOpen(ask, last)) return true;
    pending.pop();
  }
  return false;
}

function isOpen({ route, typeUrl }: Ask, redirect: FollowedRedirect): boolean {
  return (
    redirect.follower?.outcome.state === "pending" &&
    route.redirect(typeUrl, redirect.key) === redirect
  );
}
