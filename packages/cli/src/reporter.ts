import type { CliEvent } from "./cli-event.ts";

/** Shows people or programs what happens. */
export interface Reporter {
  /** Shows one event. Must not throw. */
  event(shown: CliEvent): void;
  /** Nothing more will come: what is held back is written, and the terminal is as it was. */
  close(): void;
}
