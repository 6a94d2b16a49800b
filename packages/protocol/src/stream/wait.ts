import type { Repairable } from "./repairs.ts";
import type { ServerContext } from "./server-context.ts";

/** A wait for answers on a stream, at most for `orderMs` (S-ORD-4). */
export class Wait implements Repairable {
  repairQueued = false;
  /** When the wait began, by `Clock.now()`. undefined: nothing waits. */
  unansweredSince: number | undefined;
  /** True if it has lasted too long. */
  expired = false;
  readonly #context: Pick<ServerContext, "clock" | "waits">;
  readonly #onExpired: () => void;

  constructor(context: Pick<ServerContext, "clock" | "waits">, onExpired: () => void) {
    this.#context = context;
    this.#onExpired = onExpired;
  }

  /** Begins to wait; has no effect while it waits. */
  begin(): void {
    if (this.unansweredSince === undefined) this.beginAt(this.#context.clock.now());
  }

  /** Waits since this time, by `Clock.now()`. */
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
