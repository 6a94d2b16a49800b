import { interestKey, type Interest, type XdsError } from "@xdstp/core";
import { authorityOf, isGlob, nameKey } from "@xdstp/uri";

import type { SnapshotRecord } from "./record.ts";
import { globKey } from "./shelf.ts";

/** One interest, and what has become of it. */
export interface Wanted {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly key: string;
  readonly isCollection: boolean;
  /** null: of opaque names. */
  readonly authority: string | null;
  /** Upstream has answered. */
  said: boolean;
  /** It is served from the snapshot, of this time. */
  restoredAt: number | undefined;
  /** All that is missing of it may still come from there. */
  isPartial: boolean;
  /** Upstream says that it cannot be had for now. */
  failing: XdsError | undefined;
}

/** What is asked for. */
export class WantedBook implements Iterable<Wanted> {
  readonly #types = new Map<string, Map<string, Map<string, Wanted>>>();

  *[Symbol.iterator](): Generator<Wanted> {
    for (const keys of this.#types.values())
      for (const wanted of keys.values()) yield* wanted.values();
  }

  add(typeUrl: string, interest: Interest): Wanted {
    const key = nameKey(interest.name);
    const keys = this.#types.get(typeUrl) ?? new Map<string, Map<string, Wanted>>();
    const all = keys.get(key) ?? new Map<string, Wanted>();
    const isXdstp = interest.name.startsWith("xdstp:");
    const isCollection = interest.name === "*" || (isXdstp && isGlob(interest.name));
    const wanted: Wanted = {
      typeUrl,
      interest,
      key,
      isCollection,
      authority: (isXdstp ? authorityOf(interest.name) : undefined) ?? null,
      said: false,
      restoredAt: undefined,
      isPartial: false,
      failing: undefined,
    };
    this.#types.set(typeUrl, keys.set(key, all.set(interestKey(interest, key), wanted)));
    return wanted;
  }

  find(typeUrl: string, interest: Interest): Wanted | undefined {
    const key = nameKey(interest.name);
    return this.#types.get(typeUrl)?.get(key)?.get(interestKey(interest, key));
  }

  delete({ typeUrl, key, interest }: Wanted): void {
    const keys = this.#types.get(typeUrl);
    const all = keys?.get(key);
    all?.delete(interestKey(interest, key));
    if (all?.size === 0) keys?.delete(key);
    if (keys?.size === 0) this.#types.delete(typeUrl);
  }

  /** Those of a name, whatever their parameters. */
  of(typeUrl: string, key: string): Iterable<Wanted> {
    return this.#types.get(typeUrl)?.get(key)?.values() ?? NONE;
  }

  /** Whether any of them asks for this. */
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
