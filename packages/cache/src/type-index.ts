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

/** Above this number of types, those without content are dropped: clients choose the types that they request. */
const BLANK_TYPES = 256;

/** Who counts interest. */
export type InterestHost = Pick<TypeHost, "now" | "wants" | "opened" | "closed" | "outage">;

/** The types of a cache, and what it can answer. */
export class TypeIndex implements TypeHost {
  readonly state: CacheState;
  readonly limits: WindowLimits;
  readonly replacedBytes: number;
  readonly #options: CacheOptions;
  readonly #host: InterestHost;
  readonly #descriptors: ReadonlyMap<string, ResourceType>;
  readonly #members: ReadonlyMap<string, string>;
  readonly #types = new Map<string, TypeStore>();
  /** Those that were dropped: a type that still has a topic in use is the same object when it is needed again. */
  readonly #cleared = new Map<string, WeakRef<TypeStore>>();
  /** Number of types at which to clear next: twice what was left, so that a new type costs the same however many are watched. */
  #full = BLANK_TYPES;
  /** Number of those that were cleared away at which to look whether anybody has a topic of them. */
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

  /** The type of the members, if this is a list collection of a type that is known. */
  memberOf(typeUrl: string): string | undefined {
    return this.#members.get(typeUrl);
  }

  serves(typeUrl: string): boolean {
    return this.#descriptors.has(typeUrl) || this.#types.get(typeUrl)?.served === true;
  }

  type(typeUrl: string): TypeStore {
    return this.#types.get(typeUrl) ?? this.#open(typeUrl);
  }

  /** A name as it was at a revision, if that is still kept. */
  asOf(asked: string, name: string, revision: number): StateEntry | undefined {
    const plain = withoutParameters(name, this.#options.ignoredParameters ?? NONE);
    return this.#types.get(homeType(asked, name))?.asOf(readName(plain).key, revision);
  }

  /** Whether there are variants of a name (TP2). */
  hasVariants(typeUrl: string, key: string): boolean {
    return this.#types.get(typeUrl)?.variantsOf(key) !== undefined;
  }

  /** The watched topic of an interest, or a new one. */
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

  /** Whether a name of this kind can exist here: it is one, of this type, and of an authority that is answered for. */
  isReachable(typeUrl: string, given: ReadName): boolean {
    const name = this.admitted(given);
    return (
      name.kind === "opaque" ||
      (name.kind !== "invalid" && fitsType(name, typeUrl) && this.answersFor(name))
    );
  }

  /** What has directives is not a name, unless this cache is that of a client. */
  admitted(name: ReadName): ReadName {
    return name.directed === true && this.#options.directives !== true
      ? { ...name, kind: "invalid" }
      : name;
  }

  /** S-AUTH-8 */
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

/** A name without some context parameters (S-CTX-4). What is not an xdstp name, or a glob, whose members have its parameters (S-GLOB-4), stays as it is. */
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
