import type { Clock, Removal, Resource, Timer } from "@xdstp/core";
import { decodeLatin1 } from "@xdstp/core/wire";
import { nameKey } from "@xdstp/uri";

import type { ServerLink } from "../routes/server-link.ts";

/** A resource that is stored for its followers. */
export interface Kept {
  /** The server that sent it. */
  readonly link: ServerLink;
  readonly resource: Resource;
  /** The timer of its TTL (C-TTL-4). Absent: it has none. */
  expiry?: Timer;
  ends?: number;
}

/** The variants of a name, each until its TTL expires. */
export class KeptResources {
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;
  readonly #onExpired: () => void;

  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  get size(): number {
    return this.#kept.size;
  }

  [Symbol.iterator](): Iterator<Kept> {
    return this.#kept.values();
  }

  put(id: string, link: ServerLink, resource: Resource): void {
    this.remove(id);
    const kept: Kept = { link, resource };
    this.#kept.set(id, kept);
    this.#await(id, kept, resource.expireMs);
  }

  /** Yields the resources, each with the remaining time of its TTL. */
  *lasting(): Iterable<Pick<Kept, "link" | "resource">> {
    for (const { link, resource, ends } of this.#kept.values())
      yield {
        link,
        resource: lasting(resource, ends === undefined ? undefined : ends - this.#clock.now()),
      };
  }

  /** Adds the resources of another one, with the remaining time of their TTLs. */
  share(others: KeptResources): void {
    for (const { link, resource } of others.lasting())
      this.put(variantId(resource), link, resource);
  }

  /** Restarts the TTL of a variant. */
  refresh(id: string, expireMs: number | undefined): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    kept.expiry?.cancel();
    delete kept.expiry;
    delete kept.ends;
    this.#await(id, kept, expireMs);
  }

  remove(id: string): void {
    this.#kept.get(id)?.expiry?.cancel();
    this.#kept.delete(id);
  }

  clear(): void {
    for (const id of [...this.#kept.keys()]) this.remove(id);
  }

  #await(id: string, kept: Kept, expireMs: number | undefined): void {
    if (expireMs === undefined) return;
    kept.ends = this.#clock.now() + expireMs;
    kept.expiry = this.#clock.after(expireMs, () => {
      this.#kept.delete(id);
      this.#onExpired();
    });
  }
}

/**
 * Returns a resource with this number of milliseconds until it expires. `undefined`: without a
 * limit.
 */
function lasting(given: Resource, leftMs: number | undefined): Resource {
  if (leftMs !== undefined) return { ...given, expireMs: Math.max(1, leftMs) };
  if (given.expireMs === undefined) return given;
  const resource: { -readonly [Key in keyof Resource]: Resource[Key] } = { ...given };
  delete resource.expireMs;
  return resource;
}

/** Returns a map key for a variant of one name (TP2). */
export function variantId({ constraints }: Pick<Resource, "constraints">): string {
  return constraints === undefined || constraints.length === 0 ? "" : decodeLatin1(constraints);
}

/** Returns a map key for one variant of a name in any spelling (TP2). */
export function variantKey(one: Pick<Resource, "name" | "constraints">): string {
  return `${nameKey(one.name)}\n${variantId(one)}`;
}

/** Returns true if there is at least one element. Reads no more than the first. */
export function hasAny(all: Iterable<unknown>): boolean {
  return Iterator.from(all).some(() => true);
}

/** Returns the removal of one variant of a name. */
export function removalOf(
  typeUrl: string,
  name: string,
  constraints: Uint8Array | undefined,
): Removal {
  return { typeUrl, name, ...(constraints !== undefined && { constraints }) };
}

/** Copies the payload, so that it does not keep the whole response in memory. */
export function ownCopy(resource: Resource): Resource {
  const {
    payload: { typeUrl, value },
  } = resource;
  return value.buffer.byteLength === value.byteLength
    ? resource
    : { ...resource, payload: { typeUrl, value: value.slice() } };
}
