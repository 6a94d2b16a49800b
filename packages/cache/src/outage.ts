import type { XdsError } from "@xdstp/core";

/** Why a part of the supply is broken. */
export interface Outage {
  /** The error that the feed reported. */
  readonly error: XdsError;
  /** Number of the report, of all that the cache has had. The same text may be reported again, for example for another version (C-ACK-18), or by another attempt to connect. */
  readonly report: number;
}
