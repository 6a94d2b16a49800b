import { type Clock, createDeadlines } from "@xdstp/core";

import type { ServerLimits } from "./server-limits.ts";
import type { ServerStats } from "./xds-server.ts";

/** A stream that wants to begin. */
export interface Newcomer {
  /** It may begin. Never called within `enter`. */
  admit(): void;
  /** It has waited too long. */
  reject(): void;
}

/** Lets streams begin, some at a time, in the order in which they came. */
export interface Admission {
  /** `now`: it begins at once. `later`: `admit` or `reject` follows. `never`: too many wait. */
  enter(newcomer: Newcomer): "now" | "later" | "never";
  /** Its first sync is done, or it has disconnected; more than one call does no harm. */
  leave(newcomer: Newcomer): void;
  stats(): ServerStats["admission"];
}

/** An empty admission. */
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
