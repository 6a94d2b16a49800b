import { interestKey, type ResourceSink, type TypedInterest, type XdsError } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Follower } from "./follower.ts";

interface Place extends TypedInterest {
  readonly errors: Map<Follower, XdsError>;
}

/** What stands beside what readers hold, since something on the way to it cannot be had; of a collection the first of what its members have. */
export class Ambient {
  readonly #sink: ResourceSink;
  readonly #places = new Map<string, Place>();
  readonly #of = new Map<Follower, { readonly error: XdsError; readonly ids: readonly string[] }>();

  constructor(sink: ResourceSink) {
    this.#sink = sink;
  }

  /** @param interests - those by which readers ask for it */
  set(follower: Follower, error: XdsError | undefined, interests: readonly TypedInterest[]): void {
    const known = this.#of.get(follower);
    if (known?.error === error) return;
    this.#of.delete(follower);
    for (const id of known?.ids ?? []) this.#change(id, (errors) => { errors.delete(follower); });
    if (error === undefined) return;
    const ids = interests.map((place) => this.#idOf(place));
    this.#of.set(follower, { error, ids });
    for (const id of ids) this.#change(id, (errors) => { errors.set(follower, error); });
  }

  #idOf({ typeUrl, interest }: TypedInterest): string {
    const id = `${typeUrl}\n${interestKey(interest, nameKey(interest.name))}`;
    if (!this.#places.has(id)) this.#places.set(id, { typeUrl, interest, errors: new Map() });
    return id;
  }

  #change(id: string, change: (errors: Map<Follower, XdsError>) => void): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    const [before] = place.errors.values();
    change(place.errors);
    const [after] = place.errors.values();
    if (place.errors.size === 0) this.#places.delete(id);
    if (before !== after) this.#sink.unavailable({ typeUrl: place.typeUrl, interest: place.interest }, after);
  }
}
