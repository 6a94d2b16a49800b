import type { Clock, Timer } from "./clock.ts";

/** Items that all have the same time limit from when they were added, with one timer for all. */
export interface Deadlines<T> {
  /** Adds an item and starts its time. An item that is already there starts again. */
  add(item: T): void;
  /** Removes an item, so that it does not become due. Returns false if it was not there. */
  remove(item: T): boolean;
  /** The number of items. */
  readonly size: number;
  /** The item that is due first. undefined: there are no items. */
  readonly first: T | undefined;
}

/**
 * Calls `onDue` for each item that was not removed within `ms` milliseconds. All items have the
 * same time limit, so their order is that in which they were added.
 */
export function createDeadlines<T>(
  clock: Clock,
  ms: number,
  onDue: (item: T) => void,
): Deadlines<T> {
  const due = new Map<T, number>();
  let timer: Timer | undefined;
  const arm = (): void => {
    if (timer !== undefined) return;
    const [first] = due.values();
    if (first !== undefined) timer = clock.after(Math.max(0, first - clock.now()), run);
  };
  const disarm = (): void => {
    timer?.cancel();
    timer = undefined;
  };
  const run = (): void => {
    timer = undefined;
    const now = clock.now();
    for (const [item, at] of due) {
      if (at > now) break;
      due.delete(item);
      onDue(item);
    }
    arm();
  };
  return {
    add(item) {
      due.delete(item);
      due.set(item, clock.now() + ms);
      arm();
    },
    remove(item) {
      const was = due.delete(item);
      if (due.size === 0) disarm();
      return was;
    },
    get size() {
      return due.size;
    },
    get first() {
      return due.keys().next().value;
    },
  };
}
