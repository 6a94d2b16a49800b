import type { ResourceSink, XdsError } from "@xdstp/core";

import type { LinkFailure } from "./server-link.ts";

/** The failures of a route, reported to the subscribers of names of its authorities. */
export class RouteFailures {
  readonly #part: ResourceSink;
  /** The number of subscribed names, by authority. `null`: opaque names. */
  readonly #authorities = new Map<string | null, number>();
  /**
   * The failure of the whole route, under the key `undefined`, and the failures of single types.
   */
  readonly #failures = new Map<string | undefined, LinkFailure>();

  constructor(part: ResourceSink) {
    this.#part = part;
  }

  get authorities(): Iterable<string | null> {
    return this.#authorities.keys();
  }

  /** The types that have a failure of their own. */
  get types(): readonly string[] {
    return [...this.#failures.keys()].filter((typeUrl) => typeUrl !== undefined);
  }

  of(typeUrl: string): XdsError | undefined {
    return (this.#failures.get(undefined) ?? this.#failures.get(typeUrl))?.error;
  }

  /** Reports a failure. Returns false if it has not changed. */
  set(typeUrl: string | undefined, failure: LinkFailure | undefined): boolean {
    if (failure?.report === this.#failures.get(typeUrl)?.report) return false;
    if (failure === undefined) this.#failures.delete(typeUrl);
    else this.#failures.set(typeUrl, failure);
    for (const authority of this.#authorities.keys()) this.#say(authority, typeUrl, failure);
    return true;
  }

  /** Called when one more name of this authority is subscribed. */
  speakFor(authority: string | null): void {
    const count = this.#authorities.get(authority) ?? 0;
    this.#authorities.set(authority, count + 1);
    if (count === 0)
      for (const [typeUrl, failure] of this.#failures) this.#say(authority, typeUrl, failure);
  }

  /** Called when one name less is subscribed. An authority without subscriptions has no report. */
  beSilentOf(authority: string | null): void {
    const count = this.#authorities.get(authority) ?? 0;
    if (count > 1) {
      this.#authorities.set(authority, count - 1);
      return;
    }
    this.#authorities.delete(authority);
    if (this.#failures.size > 0) this.#say(authority, undefined, undefined);
  }

  #say(
    authority: string | null,
    typeUrl: string | undefined,
    failure: LinkFailure | undefined,
  ): void {
    this.#part.unavailable(
      { authority, ...(typeUrl !== undefined && { typeUrl }) },
      failure?.error,
    );
  }
}
