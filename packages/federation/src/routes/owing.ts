import { covers, type Ask } from "./ask.ts";
import type { ServerLink } from "./server-link.ts";

/** Collections of which all is known but what some members lead to: they are settled when that is known too. */
export class Owing {
  readonly #owed = new Map<Ask, ServerLink>();

  add(asks: readonly Ask[], link: ServerLink): void {
    for (const ask of asks) this.#owed.set(ask, link);
  }

  /** Settles those of which nothing is pending any more. */
  pay(): void {
    for (const [ask, link] of this.#owed) {
      const isLeft = !ask.direct || !ask.route.uses(link);
      if (!isLeft && isPending(ask)) continue;
      this.#owed.delete(ask);
      if (!isLeft) void link.part.commit({ settled: [{ typeUrl: ask.typeUrl, interest: ask.interest }] });
    }
  }
}

/** Whether members of a collection lead elsewhere. */
export function isLeadingElsewhere({ route, typeUrl, kind, key }: Ask): boolean {
  return kind !== "name" && (route.redirects.get(typeUrl)?.values() ?? []).some((redirect) => covers({ kind, key }, redirect.key));
}

function isPending(ask: Ask): boolean {
  return (ask.route.redirects.get(ask.typeUrl)?.values() ?? []).some((redirect) => redirect.follower?.outcome.state === "pending" && covers(ask, redirect.key));
}
