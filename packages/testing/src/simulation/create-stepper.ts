import type { FakeClock } from "../create-fake-clock.ts";

/** Runs a simulation, one event after the other: what falls due next on the clock is a step. */
export interface Stepper {
  /** Made so far. */
  readonly steps: number;
  /** Makes all steps of the next `ms` milliseconds of the clock, and moves it there. */
  run(ms: number): Promise<void>;
  /** Does something as a step of its own, now. */
  act(action: () => void): Promise<void>;
}

/** The one who moves the clock. */
export function createStepper({
  clock,
  turn = nextTurn,
  onStep = () => undefined,
}: {
  /** The clock that is advanced. */
  readonly clock: FakeClock;
  /** Lets the promises and microtasks of a step end before the next one. Default: `setImmediate`, so that all of them have. */
  readonly turn?: () => Promise<void>;
  /** Called after each step; what it throws ends the run. */
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
