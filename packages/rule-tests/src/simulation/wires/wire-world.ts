import { createStepper, type FakeClock } from "@xdstp/testing";

import type { SteppedWorld, TimedStep } from "../run-scenario.ts";
import type { Report, Violation } from "../violation.ts";

/** A deed of every wire. */
export interface Rest {
  readonly kind: "rest";
}

/** The parts of a world that differ between wires. */
export interface WireParts<Deed> {
  do(deed: Exclude<Deed, Rest>): void;
  /** Ends all faults, and starts what has stopped. */
  calm(): void;
  /** Reads what the clients show; called after each step. */
  look(): void;
  /** Compares every watch with the origin. Returns true if all are equal. */
  isSettled(report: boolean): boolean;
  close(): void;
}

/** The time of a rest in milliseconds: the most until all are equal, between two checks, and afterwards. */
const REST = { most: 600_000, look: 5_000, idle: 60_000 };

/** Creates a world on a fake clock. */
export function createWireWorld<Deed extends { readonly kind: string }>(
  clock: FakeClock,
  create: (report: Report) => WireParts<Deed>,
): SteppedWorld<Deed> {
  const found: { violation?: Violation } = {};
  const report: Report = (invariant, text) => {
    found.violation ??= { invariant, text };
  };
  const parts = create(report);
  const stepper = createStepper({
    clock,
    onStep: () => {
      parts.look();
      if (found.violation !== undefined) throw new Error(found.violation.text);
    },
  });
  const rest = async (): Promise<void> => {
    await stepper.act(() => {
      parts.calm();
    });
    const end = clock.now() + REST.most;
    do await stepper.run(REST.look);
    while (!parts.isSettled(clock.now() >= end) && clock.now() < end);
    await stepper.run(REST.idle);
    parts.isSettled(true);
    if (found.violation !== undefined) throw new Error(found.violation.text);
  };
  const run = async (history: readonly TimedStep<Deed>[]): Promise<void> => {
    for (const { waitMs, deed } of history) {
      await stepper.run(waitMs);
      if (isRest(deed)) await rest();
      else
        await stepper.act(() => {
          parts.do(deed as Exclude<Deed, Rest>);
        });
    }
  };
  return {
    get steps() {
      return stepper.steps;
    },
    get violation() {
      return found.violation;
    },
    async run(history) {
      try {
        await run(history);
      } catch (error) {
        report(
          "nothing throws",
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        );
      }
    },
    close: () => {
      parts.close();
    },
  };
}

function isRest(deed: { readonly kind: string }): boolean {
  return deed.kind === "rest";
}
