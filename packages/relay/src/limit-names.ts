import { interestKey, XdsError, type Interest, type ResourceFeed, type ResourceSink } from "@xdstp/core";
import { defaultLimits } from "@xdstp/core/server";
import { isGlob } from "@xdstp/uri";

/** How many names, globs and `*` are subscribed upstream at a time. */
export interface NameLimits {
  /** Of one type. */
  readonly ofType: number;
  /** Of all types. */
  readonly ofAll: number;
  /** Globs of one type. */
  readonly globs: number;
}

type OnFull = (typeUrl: string, names: readonly string[], reason: string) => void;

/** Limits that a server accepts which limits a stream to this number of names of one type; absent: to the default of this stack. */
export function nameLimits(names: number | undefined): NameLimits {
  const { subscriptions, streamSubscriptions, globs } = defaultLimits;
  return names === undefined ? { ofType: subscriptions, ofAll: streamSubscriptions, globs } : { ofType: names, ofAll: 2 * names, globs: Math.ceil(names / 10) };
}

/**
 * The same feed with a bounded number of subscriptions. A server ends a stream that has more than it accepts, and then no client of the relay is served any more:
 * so what is beyond the limits is unavailable with RESOURCE_EXHAUSTED until others have ended, and everything else goes on.
 * @param onFull - called once per type and turn with the names that have to wait
 */
export function limitNames(feed: ResourceFeed, limits: NameLimits, onFull: OnFull): ResourceFeed {
  return new LimitedFeed(feed, limits, onFull);
}

/** The subscriptions of one type. */
interface TypeNames {
  readonly asked: Set<string>;
  readonly waiting: Map<string, Interest>;
  globs: number;
}

class LimitedFeed implements ResourceFeed {
  readonly #feed: ResourceFeed;
  readonly #limits: NameLimits;
  readonly #onFull: OnFull;
  readonly #types = new Map<string, TypeNames>();
  #asked = 0;
  #sink: ResourceSink | undefined;

  constructor(feed: ResourceFeed, limits: NameLimits, onFull: OnFull) {
    this.#feed = feed;
    this.#limits = limits;
    this.#onFull = onFull;
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink;
    for (const [typeUrl, { waiting }] of this.#types) for (const interest of waiting.values()) this.#tell(typeUrl, interest, this.#fault(typeUrl));
    await this.#feed.run(sink, signal);
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const ended = dropped.filter((interest) => this.#end(typeUrl, interest));
    const begun = added.filter((interest) => this.#begin(typeUrl, interest));
    if (begun.length + ended.length > 0) this.#feed.want?.(typeUrl, begun, ended);
    const late = added.filter((interest) => this.#typeOf(typeUrl).waiting.has(keyOf(interest)));
    if (late.length > 0) this.#refuse(typeUrl, late);
    if (ended.length > 0) this.#admit();
  }

  /** false: it has to wait. */
  #begin(typeUrl: string, interest: Interest): boolean {
    const type = this.#typeOf(typeUrl);
    const { globs } = this.#limits;
    const glob = isGlob(interest.name) ? 1 : 0;
    if (this.#isFull(type) || type.globs + glob > globs) {
      type.waiting.set(keyOf(interest), interest);
      return false;
    }
    type.asked.add(keyOf(interest));
    type.globs += glob;
    this.#asked++;
    return true;
  }

  #isFull({ asked }: TypeNames): boolean {
    return asked.size >= this.#limits.ofType || this.#asked >= this.#limits.ofAll;
  }

  /** false: it has only waited. */
  #end(typeUrl: string, interest: Interest): boolean {
    const type = this.#typeOf(typeUrl);
    if (type.waiting.delete(keyOf(interest))) {
      this.#tell(typeUrl, interest, undefined);
      return false;
    }
    if (!type.asked.delete(keyOf(interest))) return true;
    if (isGlob(interest.name)) type.globs--;
    this.#asked--;
    return true;
  }

  #refuse(typeUrl: string, late: readonly Interest[]): void {
    const fault = this.#fault(typeUrl);
    for (const interest of late) this.#tell(typeUrl, interest, fault);
    this.#onFull(typeUrl, late.map(({ name }) => name), fault.text);
  }

  /** Subscribes what has waited longest, as far as there is room. */
  #admit(): void {
    for (const [typeUrl, type] of this.#types) {
      const begun: Interest[] = [];
      for (const [key, interest] of type.waiting) {
        if (this.#isFull(type)) break;
        if (!this.#begin(typeUrl, interest)) continue;
        type.waiting.delete(key);
        this.#tell(typeUrl, interest, undefined);
        begun.push(interest);
      }
      if (begun.length > 0) this.#feed.want?.(typeUrl, begun, []);
    }
  }

  #tell(typeUrl: string, interest: Interest, error: XdsError | undefined): void {
    this.#sink?.unavailable({ typeUrl, interest }, error);
  }

  #fault(typeUrl: string): XdsError {
    const { ofType, ofAll, globs } = this.#limits;
    return new XdsError("RESOURCE_EXHAUSTED", `a relay subscribes to ${ofType} names of one type upstream at most, ${ofAll} of all types and ${globs} globs, and its clients have as many; raise upstreamNames (--upstream-names) if the server accepts more`, { typeUrl });
  }

  #typeOf(typeUrl: string): TypeNames {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const type: TypeNames = { asked: new Set(), waiting: new Map(), globs: 0 };
    this.#types.set(typeUrl, type);
    return type;
  }
}

function keyOf(interest: Interest): string {
  return interestKey(interest, interest.name);
}
