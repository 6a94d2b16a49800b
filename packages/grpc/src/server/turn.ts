/** One at a time; the others wait in the order in which they came. */
export interface Turn {
  /** true: it is yours. false: `granted` is called when it is. undefined: too many wait already. */
  take(granted: () => void): boolean | undefined;
  /** Gives a turn back, or leaves the queue. */
  leave(granted: () => void): void;
}

/** A turn for which at most `maxWaiting` may wait. */
export function createTurn(maxWaiting: number): Turn {
  let holder: (() => void) | undefined;
  const waiting = new Set<() => void>();
  return {
    take(granted) {
      if (holder !== undefined)
        return waiting.size >= maxWaiting ? undefined : (waiting.add(granted), false);
      holder = granted;
      return true;
    },
    leave(granted) {
      waiting.delete(granted);
      if (holder !== granted) return;
      const [next] = waiting;
      holder = next;
      if (next === undefined) return;
      waiting.delete(next);
      next();
    },
  };
}
