import type { XdsError } from "@xdstp/core";

import type { Ask } from "./ask.ts";
import type { ServerLink } from "./server-link.ts";

/** What servers have said of what a route wants: of what nothing is known yet, and what cannot be had for now. */
export class Answers {
  readonly #unanswered = new Set<Ask>();
  readonly #troubled = new Set<Ask>();

  /** Whether it matters that something is known. */
  get waits(): boolean {
    return this.#unanswered.size > 0;
  }

  /** It is subscribed from now on. */
  begin(ask: Ask): void {
    if (ask.kept.size === 0 && ask.missing === undefined) this.#unanswered.add(ask);
  }

  /** It is not wanted any more. */
  end(ask: Ask): void {
    this.#unanswered.delete(ask);
  }

  /** Something has come of these, or they are known not to exist. */
  note(asks: Iterable<Ask>): void {
    for (const ask of asks) this.#unanswered.delete(ask);
  }

  /** It is subscribed, and something has come of it. */
  has(ask: Ask): boolean {
    return ask.wanted && !this.#unanswered.has(ask);
  }

  /** The same of what is of these types. It is looked at with each name that is begun, so not at all of them. */
  waitsFor(types: ReadonlyMap<string, unknown>): boolean {
    return types.size > 0 && this.#unanswered.values().some(({ typeUrl }) => types.has(typeUrl));
  }

  /** One server has said that it cannot be had for now; without an error, that it can. */
  trouble(ask: Ask, link: ServerLink, error: XdsError | undefined): void {
    ask.unavailable = error === undefined ? undefined : { link, error };
    if (error === undefined) this.#troubled.delete(ask);
    else this.#troubled.add(ask);
  }

  /** What cannot be had as one server says, of one type or all. */
  troubledBy(link: ServerLink, typeUrl?: string): readonly Ask[] {
    return [...this.#troubled].filter(
      (ask) => ask.unavailable?.link === link && (typeUrl === undefined || ask.typeUrl === typeUrl),
    );
  }
}
