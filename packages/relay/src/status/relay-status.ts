import type { XdsError } from "@xdstp/core";

/** What a relay has of whom, for whoever looks on. */
export interface RelayStatus {
  /** Every server that is configured or has been asked, in order. */
  readonly upstreams: readonly UpstreamStatus[];
}

/** One server upstream. Times are milliseconds since the epoch. */
export interface UpstreamStatus {
  /** Equal for equal configurations. */
  readonly id: string;
  /** Its URI. */
  readonly name: string;
  /** Those that it is configured for, as names write them. */
  readonly authorities: readonly string[];
  /** It has the opaque names, or all names without another server. */
  readonly isDefault: boolean;
  /** `idle`: nothing is asked of it. `connecting`: nothing has come on its stream yet. */
  readonly state: "idle" | "connecting" | "answering" | "unreachable";
  /** When a response of it came last. Absent: none has. */
  readonly lastWordAt?: number;
  /** Since when its cached resources may be out of date: its stream has ended, and nothing has come since. After a restart it is the time of the snapshot, until something comes. Absent: they are up to date. */
  readonly staleSince?: number;
  /** Why it cannot be reached. */
  readonly failure?: XdsError;
  /** How often clients began to ask for names that it is for, since the relay was made; it shares the count with the other servers of its authorities. */
  readonly lookUps: {
    /** Answered at once from the cache. */
    readonly held: number;
    /** Those that had to wait for upstream. */
    readonly asked: number;
  };
}
