import { type Clock, StatusCode } from "@xdstp/core";
import type { StreamLimits } from "./limits.ts";
import { createRepairs, type Repairable } from "./repairs.ts";

/** One type on a stream that may owe an answer. */
interface Debtor {
  /** The exchange with its unanswered response, if there is one. */
  readonly exchange: { readonly inFlight: { readonly since: number } | undefined };
  /** The stream that is ended. */
  readonly host: { end(code: number, message: string, limit?: keyof StreamLimits): void };
}

/** Ends streams of clients that do not answer (S-ACK-17). */
export interface StuckWatch {
  /** Starts to watch a type: a response has been sent. */
  watch(debtor: Debtor): void;
}

/**
 * Creates the watch, with one timer for all. undefined: with a limit of `Infinity` no stream is
 * ended.
 */
export function createStuckWatch(clock: Clock, limitMs: number): StuckWatch | undefined {
  if (limitMs === Infinity) return undefined;
  const queue = createRepairs(clock, limitMs);
  const watched = new WeakMap<Debtor, Repairable>();
  return {
    watch(debtor) {
      let waiting = watched.get(debtor);
      if (waiting === undefined) watched.set(debtor, (waiting = new Waiting(debtor)));
      queue.watch(waiting);
    },
  };
}

class Waiting implements Repairable {
  repairQueued = false;
  readonly #debtor: Debtor;

  constructor(debtor: Debtor) {
    this.#debtor = debtor;
  }

  get unansweredSince(): number | undefined {
    return this.#debtor.exchange.inFlight?.since;
  }

  repair(): void {
    this.#debtor.host.end(
      StatusCode.UNAVAILABLE,
      "a response was not answered for too long",
      "endStuckMs",
    );
  }
}
