import type { Clock } from "@xdstp/core";

/** Counts the requests of each address. */
export interface RequestWindow {
  /** Counts one request. Returns 0, or the milliseconds after which the client may try again. */
  take(address: string): number;
}

/**
 * Creates a counter that begins again each second, so it stores no address for longer. The port of
 * an address does not count.
 */
export function createRequestWindow(clock: Pick<Clock, "now">, perSecond: number): RequestWindow {
  const counts = new Map<string, number>();
  let endsAt = 0;
  return {
    take(address) {
      const now = clock.now();
      if (now >= endsAt) {
        counts.clear();
        endsAt = now + 1_000;
      }
      const host = address.slice(0, address.lastIndexOf(":"));
      const count = (counts.get(host) ?? 0) + 1;
      counts.set(host, count);
      return count > perSecond ? endsAt - now : 0;
    },
  };
}
