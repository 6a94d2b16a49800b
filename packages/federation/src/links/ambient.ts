import { interestKey, type ResourceSink, type TypedInterest, type XdsError } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

interface Place extends TypedInterest {
  readonly errors: Map<object, XdsError>;
}

/** What stands next to what readers hold, since something on the way to it cannot be had; of a collection the first of what its members have. */
export class Ambient {
  readonly #sink: ResourceSink;
  readonly #places = new Map<string, Place>();
  readonly #said = new Map<object, { readonly error: XdsError; readonly ids: readonly string[] }>();

  constructor(sink: ResourceSink) {
    this.#sink = sink;
  }

  /**
   * @param who - the one that says so: what it has said before is over
   * @param interests - those by which readers ask for it
   */
  set(who: object, error: XdsError | undefined, interests: readonly TypedInterest[]): void {
    const known = this.#said.get(who);
    if (known === undefined && error === undefined) return;
    const ids = error === undefined ? [] : interests.map((place) => this.#idOf(place));
    if (error === undefined) this.#said.delete(who);
    else this.#said.set(who, { error, ids });
    for (const id of known?.ids ?? [])
      if (!ids.includes(id))
        this.#change(id, (errors) => {
          errors.delete(who);
        });
    if (error !== undefined)
      for (const id of ids)
        this.#change(id, (errors) => {
          errors.set(who, error);
        });
  }

  /** The same as before, to those that ask for it now. */
  again(who: object, interests: readonly TypedInterest[]): void {
    this.set(who, this.#said.get(who)?.error, interests);
  }

  #idOf({ typeUrl, interest }: TypedInterest): string {
    const id = `${typeUrl}\n${interestKey(interest, nameKey(interest.name))}`;
    if (!this.#places.has(id)) this.#places.set(id, { typeUrl, interest, errors: new Map() });
    return id;
  }

  #change(id: string, change: (errors: Map<object, XdsError>) => void): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    const [before] = place.errors.values();
    change(place.errors);
    const [after] = place.errors.values();
    if (place.errors.size === 0) this.#places.delete(id);
    if (before !== after)
      this.#sink.unavailable({ typeUrl: place.typeUrl, interest: place.interest }, after);
  }
}
