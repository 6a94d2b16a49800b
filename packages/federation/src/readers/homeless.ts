import {
  interestKey,
  type Interest,
  type ResourceSink,
  type TypedInterest,
  type XdsError,
} from "@xdstp/core";

/** Subscriptions that wait until the servers of their authority are known (C-AUTH-5). */
export class Homeless {
  readonly #sink: ResourceSink;
  readonly #waiting = new Map<string | null, Map<string, TypedInterest>>();

  constructor(sink: ResourceSink) {
    this.#sink = sink;
  }

  /** Something of the authority waits. */
  has(authority: string): boolean {
    return this.#waiting.has(authority);
  }

  /**
   * @param authority - null: an opaque name, for which no search is made
   * @param error - Why no server is known. undefined: not known yet
   */
  add(
    authority: string | null,
    { typeUrl, interest }: TypedInterest,
    error: XdsError | undefined,
  ): void {
    const waiting = this.#waiting.get(authority) ?? new Map<string, TypedInterest>();
    this.#waiting.set(authority, waiting.set(idOf(typeUrl, interest), { typeUrl, interest }));
    if (error !== undefined) this.#sink.unavailable({ typeUrl, interest }, error);
  }

  drop(authority: string | null, { typeUrl, interest }: TypedInterest): void {
    const waiting = this.#waiting.get(authority);
    if (waiting?.delete(idOf(typeUrl, interest)) !== true) return;
    if (waiting.size === 0) this.#waiting.delete(authority);
    this.#sink.unavailable({ typeUrl, interest }, undefined);
  }

  /** No server is found, for this reason. */
  tell(authority: string, error: XdsError | undefined): void {
    for (const waiting of this.#waiting.get(authority)?.values() ?? [])
      this.add(authority, waiting, error);
  }

  /** Servers are found: these wait no more. */
  take(authority: string): readonly TypedInterest[] {
    const waiting = [...(this.#waiting.get(authority)?.values() ?? [])];
    this.#waiting.delete(authority);
    for (const { typeUrl, interest } of waiting)
      this.#sink.unavailable({ typeUrl, interest }, undefined);
    return waiting;
  }

  clear(): void {
    this.#waiting.clear();
  }
}

function idOf(typeUrl: string, interest: Interest): string {
  return `${typeUrl}\n${interestKey(interest, interest.name)}`;
}
