import { interestKey, XdsError, type Interest, type ResourceFeed, type ResourceSink } from "@xdstp/core";
import { defaultLimits } from "@xdstp/core/server";
import { isGlob } from "@xdstp/uri";

/** How much is subscribed upstream at a time. */
export interface NameLimits {
  /** Names, globs and `*` of one type. */
  readonly ofType: number;
  /** Names, globs and `*` of all types. */
  readonly ofAll: number;
  /** Globs of one type. */
  readonly globs: number;
  /** Bytes of the names of one type. The first request of a stream repeats them, and has them again with the versions that are cached, in one message. */
  readonly bytesOfType: number;
  /** Bytes of all names. */
  readonly bytesOfAll: number;
  /** Types of which something is subscribed. */
  readonly types: number;
}

/** Of the 32 MiB that a server accepts as the first message of a type. */
const bytesOfType = 12 << 20;

/** Limits that a server accepts which limits a stream to this number of names of one type; absent: to the default of this stack. */
export function nameLimits(names: number | undefined): NameLimits {
  const { subscriptions, streamSubscriptions, streamNameLength, globs, types } = defaultLimits;
  const scale = Math.max(1, (names ?? 0) / subscriptions);
  const usual = { ofType: subscriptions, ofAll: streamSubscriptions, globs, bytesOfType: bytesOfType * scale, bytesOfAll: streamNameLength * scale, types };
  return names === undefined ? usual : { ...usual, ofType: names, ofAll: 2 * names, globs: Math.ceil(names / 10) };
}

type OnFull = (typeUrl: string, names: readonly string[], reason: string) => void;

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
  /** Names, and apart from them globs: these have a limit of their own, and names do not wait for it. Each in the order of its coming. */
  readonly waiting: readonly [names: Map<string, Interest>, globs: Map<string, Interest>];
  globs: number;
  bytes: number;
}

class LimitedFeed implements ResourceFeed {
  readonly #feed: ResourceFeed;
  readonly #limits: NameLimits;
  readonly #onFull: OnFull;
  readonly #types = new Map<string, TypeNames>();
  #asked = 0;
  #bytes = 0;
  #activeTypes = 0;
  #sink: ResourceSink | undefined;

  constructor(feed: ResourceFeed, limits: NameLimits, onFull: OnFull) {
    this.#feed = feed;
    this.#limits = limits;
    this.#onFull = onFull;
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink;
    for (const [typeUrl, { waiting }] of this.#types) for (const interest of waiting.flatMap((some) => [...some.values()])) this.#tell(typeUrl, interest, this.#fault(typeUrl));
    await this.#feed.run(sink, signal);
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const ended = dropped.filter((interest) => this.#end(typeUrl, interest));
    const begun = added.filter((interest) => this.#begin(typeUrl, interest));
    if (begun.length + ended.length > 0) this.#feed.want?.(typeUrl, begun, ended);
    const late = added.filter((interest) => waitingIn(this.#typeOf(typeUrl), interest).has(keyOf(interest)));
    if (late.length > 0) this.#refuse(typeUrl, late);
    if (ended.length > 0) this.#admit();
    const { asked, waiting } = this.#typeOf(typeUrl);
    if (asked.size === 0 && waiting.every(({ size }) => size === 0)) this.#types.delete(typeUrl);
  }

  /** false: it has to wait. */
  #begin(typeUrl: string, interest: Interest): boolean {
    const type = this.#typeOf(typeUrl);
    if (!this.#fits(type, interest)) {
      waitingIn(type, interest).set(keyOf(interest), interest);
      return false;
    }
    if (type.asked.size === 0) this.#activeTypes++;
    type.asked.add(keyOf(interest));
    this.#count(type, interest, 1);
    return true;
  }

  /** false: it has only waited. */
  #end(typeUrl: string, interest: Interest): boolean {
    const type = this.#typeOf(typeUrl);
    if (waitingIn(type, interest).delete(keyOf(interest))) {
      this.#tell(typeUrl, interest, undefined);
      return false;
    }
    if (!type.asked.delete(keyOf(interest))) return true;
    if (type.asked.size === 0) this.#activeTypes--;
    this.#count(type, interest, -1);
    return true;
  }

  #count(type: TypeNames, { name }: Interest, sign: 1 | -1): void {
    const bytes = sign * Buffer.byteLength(name);
    if (isGlob(name)) type.globs += sign;
    type.bytes += bytes;
    this.#bytes += bytes;
    this.#asked += sign;
  }

  #fits(type: TypeNames, { name }: Interest): boolean {
    const bytes = Buffer.byteLength(name);
    const { ofType, ofAll, globs, bytesOfType: most, bytesOfAll, types } = this.#limits;
    const hasRoomInType = type.asked.size < ofType && type.bytes + bytes <= most && (!isGlob(name) || type.globs < globs);
    return hasRoomInType && this.#asked < ofAll && this.#bytes + bytes <= bytesOfAll && (type.asked.size > 0 || this.#activeTypes < types);
  }

  #refuse(typeUrl: string, late: readonly Interest[]): void {
    const fault = this.#fault(typeUrl);
    for (const interest of late) this.#tell(typeUrl, interest, fault);
    this.#onFull(typeUrl, late.map(({ name }) => name), fault.text);
  }

  /** Subscribes what has waited longest, as far as there is room. */
  #admit(): void {
    for (const [typeUrl, type] of this.#types) {
      const begun = type.waiting.flatMap((waiting) => this.#take(typeUrl, waiting));
      for (const interest of begun) this.#tell(typeUrl, interest, undefined);
      if (begun.length > 0) this.#feed.want?.(typeUrl, begun, []);
    }
  }

  #take(typeUrl: string, waiting: Map<string, Interest>): readonly Interest[] {
    const begun: Interest[] = [];
    for (const [key, interest] of waiting) {
      if (!this.#begin(typeUrl, interest)) break;
      waiting.delete(key);
      begun.push(interest);
    }
    return begun;
  }

  #tell(typeUrl: string, interest: Interest, error: XdsError | undefined): void {
    this.#sink?.unavailable({ typeUrl, interest }, error);
  }

  #fault(typeUrl: string): XdsError {
    const { ofType, globs, types, bytesOfType: bytes } = this.#limits;
    return new XdsError("RESOURCE_EXHAUSTED", `a relay subscribes upstream to ${ofType} names of one type at most, ${globs} globs, ${bytes} bytes of names and ${types} types, and its clients have as many; raise upstreamNames (--upstream-names) if the server accepts more`, { typeUrl });
  }

  #typeOf(typeUrl: string): TypeNames {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const type: TypeNames = { asked: new Set(), waiting: [new Map(), new Map()], globs: 0, bytes: 0 };
    this.#types.set(typeUrl, type);
    return type;
  }
}

function keyOf(interest: Interest): string {
  return interestKey(interest, interest.name);
}

function waitingIn({ waiting: [names, globs] }: TypeNames, { name }: Interest): Map<string, Interest> {
  return isGlob(name) ? globs : names;
}
