import type { Interest, ResourceType } from "@xdstp/core";
import { isGlob, parseName, printName } from "@xdstp/uri";

import { homeType } from "./home-type.ts";
import { type BaseTopic, MissingTopic } from "./base-topic.ts";
import type { CacheState, Outage } from "./cache-state.ts";
import type { CacheOptions } from "./cache.ts";
import { hasParameters, readName, type ReadName } from "./read-name.ts";
import { fitsType } from "./reject-put.ts";
import type { WindowLimits } from "./past-entries.ts";
import type { StateEntry } from "./state-entry.ts";
import { TypeStore, type TypeHost } from "./type-store.ts";

const NONE: readonly string[] = [];

/**
 * With more than this number of types, those without content are dropped: clients choose the types
 * that they request.
 */
const BLANK_TYPES = 256;

/** The part of the cache that counts interest. */
export type InterestHost = Pick<TypeHost, "now" | "wants" | "opened" | "closed" | "outage">;

/** The types of a cache, and the names for which it can answer. */
export class TypeIndex implements TypeHost {
  readonly state: CacheState;
  readonly limits: WindowLimits;
  readonly replacedBytes: number;
  readonly #options: CacheOptions;
  readonly #host: InterestHost;
  readonly #descriptors: ReadonlyMap<string, ResourceType>;
  readonly #members: ReadonlyMap<string, string>;
  readonly #types = new Map<string, TypeStore>();
  /**
   * Types that were dropped. If a topic of such a type is still in use, the same object is used
   * again when the type is needed.
   */
  readonly #cleared = new Map<string, WeakRef<TypeStore>>();
  /**
   * The number of types at which unused ones are dropped: twice the number that was left last time,
   * so that the cost of a new type does not depend on their number.
   */
  #full = BLANK_TYPES;
  /** The number of dropped types at which those without a topic in use are forgotten. */
  #forgotten = BLANK_TYPES;

  constructor(options: CacheOptions, state: CacheState, host: InterestHost) {
    const {
      types = [],
      tombstoneMs = 600_000,
      tombstoneCount = 100_000,
      replacedBytes = 1 << 20,
    } = options;
    this.#options = options;
    this.#host = host;
    this.state = state;
    this.limits = { ms: tombstoneMs, count: tombstoneCount };
    this.replacedBytes = replacedBytes;
    this.#descriptors = new Map(types.map((type) => [type.typeUrl, type]));
    this.#members = new Map(
      types.flatMap(({ typeUrl, collectionTypeUrl }) =>
        collectionTypeUrl === undefined ? [] : [[collectionTypeUrl, typeUrl] as const],
      ),
    );
  }

  [Symbol.iterator](): Iterator<TypeStore> {
    return this.#types.values();
  }

  descriptor(typeUrl: string): ResourceType | undefined {
    return this.#descriptors.get(typeUrl);
  }

  /** Returns the type of the members, if this is the list collection of a known type. */
  memberOf(typeUrl: string): string | undefined {
    return this.#members.get(typeUrl);
  }

  serves(typeUrl: string): boolean {
    return this.#descriptors.has(typeUrl) || this.#types.get(typeUrl)?.served === true;
  }

  type(typeUrl: string): TypeStore {
    return this.#types.get(typeUrl) ?? this.#open(typeUrl);
  }

  /** Returns a name as it was at a revision, if that entry is still kept. */
  asOf(asked: string, name: string, revision: number): StateEntry | undefined {
    const plain = withoutParameters(name, this.#options.ignoredParameters ?? NONE);
    return this.#types.get(homeType(asked, name))?.asOf(readName(plain).key, revision);
  }

  /** Returns true if a name has variants (TP2). */
  hasVariants(typeUrl: string, key: string): boolean {
    return this.#types.get(typeUrl)?.variantsOf(key) !== undefined;
  }

  /** Returns the watched topic of an interest, or a new one. */
  topic(asked: string, interest: Interest): BaseTopic {
    const typeUrl = homeType(asked, interest.name);
    const type = this.type(typeUrl);
    const watched = type.watchedTopic(interest);
    if (watched !== undefined) return watched;
    const name = readName(
      withoutParameters(interest.name, this.#options.ignoredParameters ?? NONE),
    );
    return this.isReachable(typeUrl, name)
      ? type.createTopic(interest, name)
      : new MissingTopic(type, interest, name.key);
  }

  /**
   * Returns true if such a name can exist here: it is valid, of this type, and of an authority for
   * which the cache answers.
   */
  isReachable(typeUrl: string, given: ReadName): boolean {
    const name = this.admitted(given);
    return (
      name.kind === "opaque" ||
      (name.kind !== "invalid" && fitsType(name, typeUrl) && this.answersFor(name))
    );
  }

  /** Returns the name; with directives it is invalid, unless the cache belongs to a client. */
  admitted(name: ReadName): ReadName {
    return name.directed === true && this.#options.directives !== true
      ? { ...name, kind: "invalid" }
      : name;
  }

  /** Returns true if the cache answers for the authority of a name (S-AUTH-8). */
  answersFor({ authority }: ReadName): boolean {
    const { authorities } = this.#options;
    return authority === undefined || authorities === undefined || authorities.includes(authority);
  }

  inWildcard(typeUrl: string, text: string, name: ReadName): boolean {
    return (
      name.directed !== true &&
      (this.#options.wildcard?.(typeUrl, text) ?? (name.kind === "opaque" || !hasParameters(name)))
    );
  }

  now(): number {
    return this.#host.now();
  }

  wants(typeUrl: string, key: string): boolean {
    return this.#host.wants(typeUrl, key);
  }

  opened(type: TypeStore, topic: BaseTopic): void {
    if (!this.#types.has(type.typeUrl)) this.#open(type.typeUrl);
    this.#host.opened(type, topic);
  }

  closed(type: TypeStore, topic: BaseTopic): void {
    this.#host.closed(type, topic);
  }

  outage(typeUrl: string, topic: BaseTopic): Outage | undefined {
    return this.#host.outage(typeUrl, topic);
  }

  #open(typeUrl: string): TypeStore {
    if (this.#types.size >= this.#full) this.#clear();
    const type = this.#cleared.get(typeUrl)?.deref() ?? new TypeStore(typeUrl, this);
    this.#cleared.delete(typeUrl);
    this.#types.set(typeUrl, type);
    return type;
  }

  #clear(): void {
    for (const type of this.#types.values()) {
      if (!type.blank) continue;
      this.#types.delete(type.typeUrl);
      this.#cleared.set(type.typeUrl, new WeakRef(type));
    }
    this.#full = Math.max(BLANK_TYPES, 2 * this.#types.size);
    if (this.#cleared.size < this.#forgotten) return;
    for (const [typeUrl, type] of this.#cleared)
      if (type.deref() === undefined) this.#cleared.delete(typeUrl);
    this.#forgotten = Math.max(BLANK_TYPES, 2 * this.#cleared.size);
  }
}

/**
 * Returns a name without some context parameters (S-CTX-4). An opaque name, and a glob, whose
 * members have its parameters (S-GLOB-4), stay unchanged.
 */
export function withoutParameters(name: string, keys: readonly string[]): string {
  if (keys.length === 0 || !name.startsWith("xdstp:") || !name.includes("?") || isGlob(name))
    return name;
  const parsed = parseName(name);
  if (!parsed.ok || !keys.some((key) => parsed.value.contextParams.has(key))) return name;
  const contextParams = new Map(
    [...parsed.value.contextParams].filter(([key]) => !keys.includes(key)),
  );
  return printName({ ...parsed.value, contextParams });
}
