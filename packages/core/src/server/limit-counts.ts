import type { StreamLimits } from "./limits.ts";

/** How often each limit of the streams was met; a limit that never was is absent. */
export interface LimitCounts {
  count(limit: keyof StreamLimits): void;
  readonly counts: Readonly<Partial<Record<keyof StreamLimits, number>>>;
}

/** All at zero. */
export function createLimitCounts(): LimitCounts {
  const counts: Partial<Record<keyof StreamLimits, number>> = {};
  return {
    counts,
    count(limit) { counts[limit] = (counts[limit] ?? 0) + 1; },
  };
}
