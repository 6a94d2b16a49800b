import type { Clock } from "@xdstp/core";
import type { UpstreamStatus } from "@xdstp/relay";
import type { Health } from "@xdstp/server";
import { upstreamHealth } from "../upstream-health.ts";
import type { FromChild } from "./messages.ts";
import { realLook } from "./plain-events.ts";
import type { Child } from "./start-child.ts";

/** How long the first process has to answer; then its last answer counts. Shorter than the time that the workers have, which are asked after it. */
const waitMs = 1_000;

/** The upstreams of a relay with workers, as its first process, which asks them, sees them. */
export interface HealthOfFirst {
  /** As of now. Callers that wait at the same time share one answer. */
  rows(): Promise<readonly Health[]>;
  hear(child: Child, message: FromChild): void;
  /** It has ended: until the next one answers all upstreams are stale. */
  gone(child: Child): void;
}

/** Nothing is known yet. `first`: the process that asks upstream; undefined before it is started. */
export function createHealthOfFirst(first: () => Child | undefined, clock: Clock): HealthOfFirst {
  let newest: readonly UpstreamStatus[] = [];
  let asked: Promise<void> | undefined;
  let done = (): void => undefined;
  const ask = async (child: Child): Promise<void> => {
    const answered = new Promise<void>((resolve) => {
      done = resolve;
    });
    const timer = clock.after(waitMs, () => {
      done();
    });
    child.send({ kind: "look" });
    await answered;
    timer.cancel();
  };
  return {
    async rows() {
      const child = first();
      if (child?.isOpen() === true)
        await (asked ??= ask(child).finally(() => {
          asked = undefined;
        }));
      return newest.map(upstreamHealth);
    },
    hear({ worker }, message) {
      if (worker !== 0 || message.kind !== "look") return;
      newest = realLook(message.look).upstreams;
      done();
    },
    gone({ worker }) {
      if (worker !== 0) return;
      newest = newest.map((one) => ({ ...one, staleSince: one.staleSince ?? clock.wallTime() }));
      done();
    },
  };
}
