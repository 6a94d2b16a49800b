/** Collects work for later turns, and runs it when a test says so. */
export interface ManualScheduler {
  /** Replaces `setImmediate`: the option `later` of schedulers. */
  readonly later: (callback: () => void) => void;
  /**
   * Runs one turn: all work that was collected before it began. Returns the number of callbacks.
   */
  turn(): number;
  /** Runs turns until no work is left. Throws after 100,000 turns, since such work never ends. */
  run(): void;
  /** The number of callbacks that wait for the next turn. */
  readonly pending: number;
}

const MAX_TURNS = 100_000;

/** Creates a scheduler whose turns a test controls. */
export function createManualScheduler(): ManualScheduler {
  const waiting: (() => void)[] = [];
  const turn = (): number => {
    const count = waiting.length;
    for (let i = 0; i < count; i++) waiting.shift()?.();
    return count;
  };
  return {
    later: (callback) => {
      waiting.push(callback);
    },
    turn,
    run() {
      for (let turns = 0; turn() > 0; turns++) {
        if (turns === MAX_TURNS)
          throw new Error(
            `work is left after ${MAX_TURNS} turns: something schedules itself for ever`,
          );
      }
    },
    get pending() {
      return waiting.length;
    },
  };
}
