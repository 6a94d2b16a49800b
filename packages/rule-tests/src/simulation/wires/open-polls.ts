import type { Clock } from "@xdstp/core";

import type { Report } from "../violation.ts";

/** The names of the invariants of polls. */
export interface PollInvariants {
  readonly onePoll: string;
  readonly pace: string;
}

/** The most polls of one watch in a window of time, in milliseconds: more than names change in it. */
const PACE = { most: 60, ms: 10_000 };

/** Counts polls by what is polled: those that are open at the same time, and those of a short time. */
export class OpenPolls {
  readonly #clock: Clock;
  readonly #invariants: PollInvariants;
  readonly #report: Report;
  readonly #open = new Map<string, number>();
  #sent = new Map<string, number>();
  #since = 0;

  constructor(clock: Clock, invariants: PollInvariants, report: Report) {
    this.#clock = clock;
    this.#invariants = invariants;
    this.#report = report;
  }

  /**
   * Sends a poll, which is open until it is answered, fails, or the client gives it up.
   * @param watches - The number of watches that may poll it
   */
  async send<T>(
    { watch, watches = 1 }: { readonly watch: string; readonly watches?: number },
    signal: AbortSignal,
    send: () => Promise<T>,
  ): Promise<T> {
    const count = (this.#open.get(watch) ?? 0) + 1;
    this.#open.set(watch, count);
    this.#count(watch, watches);
    if (count > watches) this.#report(this.#invariants.onePoll, `${watch} has ${count} polls open`);
    return new Promise((resolve, reject) => {
      let isOpen = true;
      const end = (): void => {
        if (isOpen) this.#open.set(watch, (this.#open.get(watch) ?? 1) - 1);
        isOpen = false;
      };
      signal.addEventListener(
        "abort",
        () => {
          end();
          reject(new TypeError("the client has given up"));
        },
        { once: true },
      );
      send().then(
        (answer) => {
          end();
          resolve(answer);
        },
        (error: unknown) => {
          end();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  #count(watch: string, watches: number): void {
    const now = this.#clock.now();
    if (now - this.#since > PACE.ms) {
      this.#since = now;
      this.#sent = new Map();
    }
    const count = (this.#sent.get(watch) ?? 0) + 1;
    this.#sent.set(watch, count);
    if (count > PACE.most * watches)
      this.#report(this.#invariants.pace, `${watch}: ${count} polls within ${PACE.ms} ms`);
  }
}
