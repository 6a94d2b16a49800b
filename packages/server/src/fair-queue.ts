/** What waits, by who waits for it. Whoever waits gets one out in turn, however many others have. */
export interface FairQueue<T> {
  /** How many wait. */
  readonly size: number;
  add(who: string, item: T): void;
  /** Takes it out; nothing if it is not in. */
  remove(who: string, item: T): void;
  /** Takes the next one out: the oldest of whoever has waited longest since the last turn. */
  take(): T | undefined;
  /** Makes room for one more of `who`: removes the newest of the one with the most. undefined: none would have more than `who`. */
  makeRoom(who: string): T | undefined;
}

/** An empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  const queues = new Map<string, Set<T>>();
  let size = 0;
  const remove = (who: string, item: T): void => {
    const items = queues.get(who);
    if (items?.delete(item) !== true) return;
    size -= 1;
    if (items.size === 0) queues.delete(who);
  };
  const toTheEnd = (who: string): void => {
    const items = queues.get(who);
    if (items === undefined || queues.size === 1) return;
    queues.delete(who);
    queues.set(who, items);
  };
  return {
    get size() {
      return size;
    },
    add(who, item) {
      queues.set(who, (queues.get(who) ?? new Set<T>()).add(item));
      size += 1;
    },
    remove,
    take() {
      for (const [who, [item]] of queues) {
        if (item === undefined) break;
        remove(who, item);
        toTheEnd(who);
        return item;
      }
      return undefined;
    },
    makeRoom(who) {
      const [most, items] = [...queues].reduce(
        (one, other) => (other[1].size > one[1].size ? other : one),
        [who, new Set<T>()],
      );
      if (items.size <= (queues.get(who)?.size ?? 0) + 1) return undefined;
      const newest = [...items].at(-1);
      if (newest !== undefined) remove(most, newest);
      return newest;
    },
  };
}
