import type { Cache } from "@xdstp/cache";
import { isLate } from "@xdstp/core";
import { isGlob, nameKey } from "@xdstp/uri";

import type { Invariant } from "../invariants/invariant.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";

/** A name of a type that the origin had, and has removed. */
interface Gone {
  readonly typeUrl: string;
  readonly name: string;
  /** The process that received the removal, and the time when that was seen. A message that was on its way to it arrived there alone. */
  readonly knownBy: Cache;
  readonly at: number;
  /** True if it went on for so long that its disk has the removal too. */
  isStored: boolean;
}

/** The time after which a change is on the disk, in milliseconds: twice the loss of a crash. */
const STORED = 2_000;

/**
 * A removal that the first relay received long enough before it ended is not undone by its snapshot. Only the origin can restore the resource (B-RELAY-9).
 * Later relays are not checked: the relay before them may have lost its last second.
 */
export function goneStaysGone(world: World, report: Report): Invariant {
  /** True if the origin has the resource now, running or not. */
  const published = new Map<string, boolean>();
  const gone = new Map<string, Gone>();
  return {
    onCommit(_, values) {
      for (const { typeUrl, name, text } of values) {
        published.set(keyOf(typeUrl, name), text !== undefined);
        if (text !== undefined) gone.delete(keyOf(typeUrl, name));
      }
    },
    onStep() {
      const cache = cacheOfFirst(world);
      if (cache !== undefined)
        for (const one of gone.values()) {
          const { typeUrl, name } = one;
          one.isStored ||= one.knownBy === cache && world.clock.now() >= one.at + STORED;
          if (
            one.isStored &&
            one.knownBy !== cache &&
            entryOf(cache, typeUrl, name)?.resource !== undefined
          )
            report(
              "what a relay knows to be gone does not come back with its snapshot [B-RELAY-9]",
              `the first relay has ${name} of ${typeUrl} again, which the origin has not`,
            );
        }
    },
    onLook() {
      const cache = cacheOfFirst(world);
      if (cache === undefined) return;
      for (const { typeUrl, name } of world.clients.flatMap((client) =>
        client === undefined || client.shape.origin === 0 ? [] : [...client.watched.values()],
      )) {
        const key = keyOf(typeUrl, name);
        if (published.get(key) === false && !gone.has(key) && isToldGone(cache, typeUrl, name))
          gone.set(key, { typeUrl, name, knownBy: cache, at: world.clock.now(), isStored: false });
      }
    },
  };
}

/** Returns the cache of the first relay while it runs. */
function cacheOfFirst({ servers: [, first] }: World): Cache | undefined {
  return first?.running === true ? first.cache : undefined;
}

/** Returns true if a server has removed the name. The snapshot keeps a name that only did not come in time. */
function isToldGone(cache: Cache, typeUrl: string, name: string): boolean {
  const entry = entryOf(cache, typeUrl, name);
  return (
    name !== "*" &&
    !isGlob(name) &&
    entry !== undefined &&
    entry.resource === undefined &&
    (entry.error === undefined || !isLate(entry.error))
  );
}

function entryOf(
  cache: Cache,
  typeUrl: string,
  name: string,
): ReturnType<ReturnType<Cache["topic"]>["members"]>[number] | undefined {
  return cache.topic(typeUrl, { name }).members()[0];
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${nameKey(name)}`;
}
