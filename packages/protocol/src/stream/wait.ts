import type { Repairable } from "./repairs.ts";
import type { ServerContext } from "./server-context.ts";

/** Something on a stream that waits for answers, at most for `orderMs` (S-ORD-4). */
export class Wait implements Repairable {
  repairQueued = false;
  /** When the waiting began. */
  unansweredSince: number | undefined;
  /** It has lasted too long. */
  expired = false;
  readonly #context: Pick<ServerContext, "clock" | "waits">;
  readonly #onExpired: () => void;

  constructor(context: Pick<ServerContext, "clock" | "waits">, onExpired: () => void) {
    this.#context = context;
    this.#onExpired = onExpired;
  }

  /** Goes on waiting if it does already. */
  begin(): void {
    if (this.unansweredSince === undefined) this.beginAt(this.#context.clock.now());
  }

  /** Waits from this time on, by `Clock.now()`. */
  beginAt(since: number): void {
    if (this.unansweredSince === since) return;
    this.unansweredSince = since;
    this.#context.waits.watch(this);
  }

  end(): void {
    this.unansweredSince = undefined;
    this.expired = false;
  }

  repair(): void {
    this.expired = true;
    this.#onExpired();
  }
}
