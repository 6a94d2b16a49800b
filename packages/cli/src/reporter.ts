import type { CliEvent } from "./cli-event.ts";

/** Shows people or programs what happens. */
export interface Reporter {
  /** Shows one event. Must not throw. */
  event(shown: CliEvent): void;
  /** Nothing more will come: pending lines are written, and the terminal is restored. */
  close(): void;
}
