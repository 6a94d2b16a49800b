import { interestKey, type Interest, type XdsError } from "@xdstp/core";
import { authorityOf, isGlob, nameKey } from "@xdstp/uri";

import type { SnapshotRecord } from "./record.ts";
import { globKey } from "./type-index.ts";

/** A subscribed interest and its state. */
export interface SubscribedInterest {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly key: string;
  readonly isCollection: boolean;
  /** null: the name is opaque. */
  readonly authority: string | null;
  /** Upstream has answered. */
  answered: boolean;
  /** When upstream sent what is served from the snapshot, in milliseconds since the epoch. undefined: nothing is. */
  restoredAt: number | undefined;
  /** It is a collection of which not all members could be restored. */
  isPartial: boolean;
  /** The error of upstream that will pass. */
  failing: XdsError | undefined;
}

/** All subscribed interests, by type and name. */
export class SubscribedInterests implements Iterable<SubscribedInterest> {
  readonly #types = new Map<string, Map<string, Map<string, SubscribedInterest>>>();

  *[Symbol.iterator](): Generator<SubscribedInterest> {
    for (const keys of this.#types.values())
      for (const subscribed of keys.values()) yield* subscribed.values();
  }

  add(typeUrl: string, interest: Interest): SubscribedInterest {
    const key = nameKey(interest.name);
    const keys = this.#types.get(typeUrl) ?? new Map<string, Map<string, SubscribedInterest>>();
    const all = keys.get(key) ?? new Map<string, SubscribedInterest>();
    const isXdstp = interest.name.startsWith("xdstp:");
    const isCollection = interest.name === "*" || (isXdstp && isGlob(interest.name));
    const subscribed: SubscribedInterest = {
      typeUrl,
      interest,
      key,
      isCollection,
      authority: (isXdstp ? authorityOf(interest.name) : undefined) ?? null,
      answered: false,
      restoredAt: undefined,
      isPartial: false,
      failing: undefined,
    };
    this.#types.set(typeUrl, keys.set(key, all.set(interestKey(interest, key), subscribed)));
    return subscribed;
  }

  find(typeUrl: string, interest: Interest): SubscribedInterest | undefined {
    const key = nameKey(interest.name);
    return this.#types.get(typeUrl)?.get(key)?.get(interestKey(interest, key));
  }

  delete({ typeUrl, key, interest }: SubscribedInterest): void {
    const keys = this.#types.get(typeUrl);
    const all = keys?.get(key);
    all?.delete(interestKey(interest, key));
    if (all?.size === 0) keys?.delete(key);
    if (keys?.size === 0) this.#types.delete(typeUrl);
  }

  /** The interests of a name, with any parameters. */
  of(typeUrl: string, key: string): Iterable<SubscribedInterest> {
    return this.#types.get(typeUrl)?.get(key)?.values() ?? NONE;
  }

  /** Whether any of them covers this record. */
  covers(
    { typeUrl, key, name, aliases }: SnapshotRecord,
    inWildcard: (name: string) => boolean,
  ): boolean {
    const keys = this.#types.get(typeUrl);
    if (keys === undefined) return false;
    const glob = globKey(key);
    return (
      keys.has(key) ||
      (glob !== undefined && keys.has(glob)) ||
      (keys.has("*") && inWildcard(name)) ||
      aliases.some((alias) => keys.has(nameKey(alias)))
    );
  }
}

const NONE: readonly never[] = [];
