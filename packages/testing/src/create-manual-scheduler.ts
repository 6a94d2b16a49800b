/** Collects work for later turns and does it when a test says so. */
export interface ManualScheduler {
  /** Takes the place of `setImmediate`: the `later` option of schedulers. */
  readonly later: (callback: () => void) => void;
  /** One turn: does what was collected before it began. Returns how much that was. */
  turn(): number;
  /** Turns until nothing is left. Throws after 100,000 turns, which is work that never ends. */
  run(): void;
  /** What waits for the next turn. */
  readonly pending: number;
}

const MAX_TURNS = 100_000;

/** Turns of an event loop, in the hands of a test. */
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
