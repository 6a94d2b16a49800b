import { type Clock, createDeadlines } from "@xdstp/core";

import type { ServerLimits } from "./server-limits.ts";
import type { ServerStats } from "./xds-server.ts";

/** A stream that waits to begin. */
export interface Newcomer {
  /** Lets the stream begin. Never called within `enter`. */
  admit(): void;
  /** Called when the stream has waited too long. */
  reject(): void;
}

/** Lets a limited number of streams begin at a time, in order of arrival. */
export interface Admission {
  /**
   * Requests to begin. `now`: the stream begins at once. `later`: `admit` or `reject` follows.
   * `never`: too many streams wait.
   */
  enter(newcomer: Newcomer): "now" | "later" | "never";
  /**
   * Called when the first sync of a stream is done, or it has disconnected. Further calls do
   * nothing.
   */
  leave(newcomer: Newcomer): void;
  stats(): ServerStats["admission"];
}

/** Creates an admission without streams. */
export function createAdmission(clock: Clock, limits: ServerLimits["admission"]): Admission {
  const counted = { waited: 0, rejected: 0 };
  const syncing = createDeadlines<Newcomer>(clock, limits.firstSyncMs, () => {
    next();
  });
  const waiting = createDeadlines<Newcomer>(clock, limits.admissionMs, (newcomer) => {
    counted.rejected++;
    newcomer.reject();
  });
  const next = (): void => {
    while (syncing.size < limits.firstSyncs) {
      const newcomer = waiting.first;
      if (newcomer === undefined) return;
      waiting.remove(newcomer);
      syncing.add(newcomer);
      newcomer.admit();
    }
  };
  return {
    leave(newcomer) {
      syncing.remove(newcomer);
      waiting.remove(newcomer);
      next();
    },
    enter(newcomer) {
      if (syncing.size < limits.firstSyncs) {
        syncing.add(newcomer);
        return "now";
      }
      counted.waited++;
      if (waiting.size >= limits.waitingSyncs) {
        counted.rejected++;
        return "never";
      }
      waiting.add(newcomer);
      return "later";
    },
    stats: () => ({ syncing: syncing.size, waiting: waiting.size, ...counted }),
  };
}
