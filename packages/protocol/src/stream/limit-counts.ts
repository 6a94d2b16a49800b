import type { StreamLimits } from "./limits.ts";

/** How often each limit of the streams was met; a limit that never was is absent. */
export interface LimitCounts {
  /** Counts that a limit was met. */
  count(limit: keyof StreamLimits): void;
  /** How often each limit was met; those that never were are absent. */
  readonly counts: Readonly<Partial<Record<keyof StreamLimits, number>>>;
}

/** All at zero. */
export function createLimitCounts(): LimitCounts {
  const counts: Partial<Record<keyof StreamLimits, number>> = {};
  return {
    counts,
    count(limit) {
      counts[limit] = (counts[limit] ?? 0) + 1;
    },
  };
}
