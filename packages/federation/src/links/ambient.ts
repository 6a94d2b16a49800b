import {
  InterestMap,
  isSameError,
  type ResourceSink,
  type TypedInterest,
  type XdsError,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

interface Place extends TypedInterest {
  readonly key: string;
  readonly errors: Map<object, XdsError>;
}

/**
 * The errors next to cached resources: why something on the way to them cannot be fetched. A
 * collection has the first error of its members.
 */
export class Ambient {
  readonly #sink: ResourceSink;
  readonly #places = new InterestMap<Place>();
  readonly #said = new Map<
    object,
    { readonly error: XdsError; readonly places: readonly Place[] }
  >();

  constructor(sink: ResourceSink) {
    this.#sink = sink;
  }

  /**
   * Sets the error that one reporter has. It replaces the previous error of the reporter.
   * @param who - The reporter
   * @param interests - The interests of the readers
   * @param isReport - True if it is a new report, even with the text of the previous one. Default:
   * false
   */
  set(
    who: object,
    error: XdsError | undefined,
    interests: readonly TypedInterest[],
    isReport = false,
  ): void {
    const known = this.#said.get(who);
    if (known === undefined && error === undefined) return;
    const places = error === undefined ? [] : interests.map((one) => this.#placeOf(one));
    if (error === undefined) this.#said.delete(who);
    else this.#said.set(who, { error, places });
    for (const place of known?.places ?? [])
      if (!places.includes(place)) this.#change(place, who, undefined, false);
    for (const place of places) this.#change(place, who, error, isReport);
  }

  /** Reports the same error to other interests, those of the present readers. */
  again(who: object, interests: readonly TypedInterest[]): void {
    this.set(who, this.#said.get(who)?.error, interests);
  }

  #placeOf({ typeUrl, interest }: TypedInterest): Place {
    const key = nameKey(interest.name);
    const known = this.#places.get(typeUrl, interest, key);
    if (known !== undefined) return known;
    const place = { typeUrl, interest, key, errors: new Map<object, XdsError>() };
    this.#places.set(typeUrl, interest, key, place);
    return place;
  }

  #change(
    { typeUrl, interest, key, errors }: Place,
    who: object,
    error: XdsError | undefined,
    isReport: boolean,
  ): void {
    const [before] = errors.values();
    if (error === undefined) errors.delete(who);
    else errors.set(who, error);
    const [[first, after] = []] = errors;
    if (errors.size === 0) this.#places.delete(typeUrl, interest, key);
    if ((isReport && first === who) || !isSameError(before, after))
      this.#sink.unavailable({ typeUrl, interest }, after);
  }
}
