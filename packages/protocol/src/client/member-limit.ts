import type { Clock, Fault } from "@xdstp/core";
import { type CachedReader, isCached } from "./cached.ts";
import type { Wanted } from "./wanted.ts";

/**
 * Milliseconds between two exact counts of one collection: each count visits all of its members.
 */
const RECOUNT_MS = 10_000;

/** The limit on the members of a collection (C-LIM-7). */
export interface MemberLimit {
  /**
   * Returns true if resources have to be counted from now on: with this number of further ones, a
   * collection may exceed the limit.
   */
  mayExceed(resources: number): boolean;
  /**
   * Counts a resource, and returns why it is rejected: a collection that covers it is full, and the
   * resource would be a further member. undefined: it is accepted, as is every resource that is
   * subscribed by name.
   * @param pending - Returns the number of new members of a collection that were accepted from the
   * same response
   */
  faultOf(
    covering: readonly Wanted[],
    name: string,
    pending: (collection: Wanted) => number,
  ): Fault | undefined;
}

/**
 * An upper bound for the members of a collection, since changes are counted too. When it reaches
 * the limit, the members are counted exactly.
 */
interface Count {
  members: number;
  /** When the members were counted exactly, by `Clock.now()`. undefined: never. */
  countedAt: number | undefined;
}

/**
 * Creates the limit of a type. Nothing is counted per collection until the type has received more
 * resources than one collection may have.
 */
export function createMemberLimit(reader: CachedReader, clock: Clock, limit: number): MemberLimit {
  const counts = new WeakMap<Wanted, Count>();
  let total = 0;
  const countOf = (collection: Wanted): Count => {
    const known = counts.get(collection);
    if (known !== undefined) return known;
    const count: Count = { members: limit, countedAt: undefined };
    counts.set(collection, count);
    return count;
  };
  const isFull = (
    collection: Wanted,
    name: string,
    pending: (collection: Wanted) => number,
  ): boolean => {
    const count = countOf(collection);
    if (count.members >= limit) {
      if (isCached(reader, { name })) return false;
      const now = clock.now();
      if (count.countedAt !== undefined && now - count.countedAt < RECOUNT_MS) return true;
      count.countedAt = now;
      const held = Array.from(reader.sink.held(reader.typeUrl, collection.interest)).length;
      count.members = held + pending(collection);
      if (count.members >= limit) return true;
    }
    count.members++;
    return false;
  };
  return {
    mayExceed(resources) {
      if (total <= limit) total += resources;
      return total > limit;
    },
    faultOf(covering, name, pending) {
      if (covering.some(({ kind }) => kind === "name")) return undefined;
      const full = covering.find((collection) => isFull(collection, name, pending));
      return full === undefined
        ? undefined
        : {
            text: `${full.interest.name} has more than ${limit} members, the limit of this client`,
            rule: "C-LIM-7",
          };
    },
  };
}
