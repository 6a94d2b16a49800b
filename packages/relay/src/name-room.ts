import { type Interest, interestKey, type ResourceType } from "@xdstp/core";
import { defaultLimits } from "@xdstp/protocol/server";
import { isGlob } from "@xdstp/uri";

/** Limits of the subscriptions at one server upstream. */
export interface NameLimits {
  /** Names, globs and `*` of one type. */
  readonly ofType: number;
  /** Names, globs and `*` of all types. */
  readonly ofAll: number;
  /** Globs of one type. */
  readonly globs: number;
  /** Bytes of the names of one type. The first request of a stream contains each name twice: in the subscription, and with its cached version. */
  readonly bytesOfType: number;
  /** Bytes of all names. */
  readonly bytesOfAll: number;
  /** Type URLs that the relay knows. They always have room. */
  readonly knownTypes: ReadonlySet<string>;
  /** The number of other types. A server counts each type that was ever subscribed on a stream, so a type never gives its room back. */
  readonly otherTypes: number;
}

/** Part of the 32 MiB that a server accepts as the first message of a type. */
const bytesOfType = 12 << 20;

/**
 * Returns the limits for a server that accepts `names` names of one type on a stream.
 * @param names - Default: the number that `createServer` accepts by default
 */
export function nameLimits(names: number | undefined, known: readonly ResourceType[]): NameLimits {
  const { subscriptions, streamSubscriptions, streamNameLength, globs, types } = defaultLimits;
  const scale = Math.max(1, (names ?? 0) / subscriptions);
  const knownTypes = new Set(
    known.flatMap(({ typeUrl, collectionTypeUrl = typeUrl }) => [typeUrl, collectionTypeUrl]),
  );
  const usual = {
    ofType: subscriptions,
    ofAll: streamSubscriptions,
    globs,
    bytesOfType: bytesOfType * scale,
    bytesOfAll: streamNameLength * scale,
    knownTypes,
    otherTypes: Math.max(0, types - knownTypes.size),
  };
  return names === undefined
    ? usual
    : { ...usual, ofType: names, ofAll: 2 * names, globs: Math.ceil(names / 10) };
}

interface Used {
  names: number;
  globs: number;
  bytes: number;
}

/** Counts the subscriptions at one server upstream. */
export class NameRoom {
  readonly #limits: NameLimits;
  readonly #types = new Map<string, Used>();
  readonly #otherTypes = new Set<string>();
  #names = 0;
  #bytes = 0;

  constructor(limits: NameLimits) {
    this.#limits = limits;
  }

  /** Returns the reason why a name has no room, or undefined. */
  lack(typeUrl: string, interest: Interest): string | undefined {
    const {
      ofType,
      ofAll,
      globs,
      bytesOfType: bytesOfOne,
      bytesOfAll,
      knownTypes,
      otherTypes,
    } = this.#limits;
    const used = this.#types.get(typeUrl) ?? nothing;
    const bytes = bytesOf(interest);
    if (
      !knownTypes.has(typeUrl) &&
      !this.#otherTypes.has(typeUrl) &&
      this.#otherTypes.size >= otherTypes
    )
      return `a relay subscribes to at most ${otherTypes} types that it does not know at a server upstream; give it the others as "types", or use one relay more for them`;
    if (used.names >= ofType) return full(`${ofType} names of one type`);
    if (this.#names >= ofAll) return full(`${ofAll} names of all types`);
    if (isGlob(interest.name) && used.globs >= globs) return full(`${globs} globs of one type`);
    if (used.bytes + bytes > bytesOfOne) return full(`${bytesOfOne} bytes of names of one type`);
    return this.#bytes + bytes > bytesOfAll
      ? full(`${bytesOfAll} bytes of names of all types`)
      : undefined;
  }

  take(typeUrl: string, interest: Interest): void {
    if (!this.#limits.knownTypes.has(typeUrl)) this.#otherTypes.add(typeUrl);
    this.#count(typeUrl, interest, 1);
  }

  giveBack(typeUrl: string, interest: Interest): void {
    this.#count(typeUrl, interest, -1);
  }

  #count(typeUrl: string, interest: Interest, sign: 1 | -1): void {
    const used = this.#types.get(typeUrl) ?? { ...nothing };
    const bytes = sign * bytesOf(interest);
    used.names += sign;
    used.bytes += bytes;
    if (isGlob(interest.name)) used.globs += sign;
    this.#names += sign;
    this.#bytes += bytes;
    if (used.names > 0) this.#types.set(typeUrl, used);
    else this.#types.delete(typeUrl);
  }
}

const nothing: Readonly<Used> = { names: 0, globs: 0, bytes: 0 };

/** The size of a name with its context parameters, as a server counts it. */
function bytesOf(interest: Interest): number {
  return Buffer.byteLength(interestKey(interest, interest.name));
}

function full(limit: string): string {
  return `a relay subscribes to at most ${limit} at a server upstream, and its clients have as many; raise upstreamNames (--upstream-names) if the server accepts more`;
}
