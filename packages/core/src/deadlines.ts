import type { Clock, Timer } from "./clock.ts";

/** Things that each have the same time from when they were added, with one timer for all. */
export interface Deadlines<T> {
  /** Its time begins; again if it was in already. */
  add(item: T): void;
  /** Its time does not end any more. false: it was not in. */
  remove(item: T): boolean;
  /** How many are in. */
  readonly size: number;
  /** The one that is due first. undefined: nothing is in. */
  readonly first: T | undefined;
}

/** Calls back for each item that was not removed within `ms` milliseconds. The equal times keep the items in order, so the first is due first. */
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
