/** Grants a turn to one user at a time; the others wait in order of arrival. */
export interface Turn {
  /**
   * Requests the turn. true: it is granted. false: `granted` is called later. `undefined`: too many
   * wait already.
   */
  take(granted: () => void): boolean | undefined;
  /** Returns a turn, or leaves the queue. */
  leave(granted: () => void): void;
}

/** Creates a turn for which at most `maxWaiting` users may wait. */
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
