import type { FakeClock } from "../create-fake-clock.ts";

/**
 * Runs a simulation, one event after the other. The next call that is due on the clock is a step.
 */
export interface Stepper {
  /** The number of steps so far. */
  readonly steps: number;
  /** Runs all steps of the next `ms` milliseconds of the clock, and moves the clock there. */
  run(ms: number): Promise<void>;
  /** Runs an action as a step of its own, now. */
  act(action: () => void): Promise<void>;
}

/** Creates a stepper, which moves the clock. */
export function createStepper({
  clock,
  turn = nextTurn,
  onStep = () => undefined,
}: {
  /** The clock that is advanced. */
  readonly clock: FakeClock;
  /**
   * Lets the promises and microtasks of a step complete before the next one. Default:
   * `setImmediate`, which lets all of them complete.
   */
  readonly turn?: () => Promise<void>;
  /** Called after each step. An exception ends the run. */
  readonly onStep?: () => void;
}): Stepper {
  let steps = 0;
  const act = async (action: () => void): Promise<void> => {
    steps++;
    action();
    await turn();
    onStep();
  };
  const step = (): void => {
    clock.step();
  };
  return {
    get steps() {
      return steps;
    },
    act,
    async run(ms) {
      const end = clock.now() + ms;
      while ((clock.next ?? Infinity) <= end) await act(step);
      clock.advance(end - clock.now());
    },
  };
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
