import { type Clock, createDeadlines } from "@xdstp/core";

/** How many streams may begin at once (S-RECON-9). */
export interface AdmissionLimits {
  /** Streams that do their first sync at the same time. Default: 1,000. Further streams wait, and are not ended. */
  readonly firstSyncs: number;
  /** Milliseconds after which a first sync makes room for another, though its client has not answered. Default: 1,000. A client that needs longer, for instance for 50 MB, continues next to the others. */
  readonly firstSyncMs: number;
  /** Streams that may wait to begin. One more gets RESOURCE_EXHAUSTED. Default: 20,000. Room: as many as there may be connections. */
  readonly waitingSyncs: number;
  /** Milliseconds that a stream may wait to begin; then it gets RESOURCE_EXHAUSTED. Default: 10,000. Room: in that time at least 10,000 streams begin; the others come back by their back-off. */
  readonly admissionMs: number;
}

/** The defaults of {@link AdmissionLimits}. */
export const defaultAdmissionLimits: AdmissionLimits = {
  firstSyncs: 1_000,
  firstSyncMs: 1_000,
  waitingSyncs: 20_000,
  admissionMs: 10_000,
};

/** What has been counted. */
export interface AdmissionStats {
  /** Streams in their first sync, and streams that wait for it. */
  readonly syncing: number;
  /** Streams that wait for their first sync. */
  readonly waiting: number;
  /** Streams that had to wait, and of them those that were turned away. */
  readonly waited: number;
  /** Streams that have waited and were turned away. */
  readonly rejected: number;
}

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
  stats(): AdmissionStats;
}

/** An empty admission. */
export function createAdmission(clock: Clock, limits: AdmissionLimits): Admission {
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
