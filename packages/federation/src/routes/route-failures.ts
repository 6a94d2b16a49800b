import type { ResourceSink, XdsError } from "@xdstp/core";

import type { LinkFailure } from "./server-link.ts";

/** Why nothing of a route can be had, told to those that ask for names of its authorities. */
export class RouteFailures {
  readonly #part: ResourceSink;
  /** Authorities with subscribed names, and their number; null: opaque names. */
  readonly #authorities = new Map<string | null, number>();
  /** As a whole, or by type where it is the streams of that which fail. */
  readonly #failures = new Map<string | undefined, LinkFailure>();

  constructor(part: ResourceSink) {
    this.#part = part;
  }

  get authorities(): Iterable<string | null> {
    return this.#authorities.keys();
  }

  /** Types that fail by themselves. */
  get types(): readonly string[] {
    return [...this.#failures.keys()].filter((typeUrl) => typeUrl !== undefined);
  }

  of(typeUrl: string): XdsError | undefined {
    return (this.#failures.get(undefined) ?? this.#failures.get(typeUrl))?.error;
  }

  /** Reports it; false: unchanged. */
  set(typeUrl: string | undefined, failure: LinkFailure | undefined): boolean {
    if (failure?.report === this.#failures.get(typeUrl)?.report) return false;
    if (failure === undefined) this.#failures.delete(typeUrl);
    else this.#failures.set(typeUrl, failure);
    for (const authority of this.#authorities.keys()) this.#say(authority, typeUrl, failure);
    return true;
  }

  /** One more name of this authority is subscribed. */
  speakFor(authority: string | null): void {
    const count = this.#authorities.get(authority) ?? 0;
    this.#authorities.set(authority, count + 1);
    if (count === 0)
      for (const [typeUrl, failure] of this.#failures) this.#say(authority, typeUrl, failure);
  }

  /** One name less. An authority without subscriptions has no report. */
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
