import type { Clock, ResourceSource } from "@xdstp/core";
import type { CallPeer } from "@xdstp/grpc/server";

import type { RejectedFlags } from "./flag-document.ts";
import type { FlagLimits } from "./flag-limits.ts";
import type { FlagReader } from "./flag-reader.ts";

/** The part of the resources that a caller may see; the view of `server.viewCaller` is one. */
export interface FlagView {
  /** The resources that the caller may see. */
  readonly source: ResourceSource;
  /** Aborts when the caller may not see it any more. Absent: never. */
  readonly revoked?: AbortSignal;
  /** Called once when the view is no longer needed. */
  release?(): void;
}

/** Options of {@link createFlags}. */
export interface FlagsOptions {
  /** The resources. */
  readonly source: ResourceSource;
  /** The glob, or the single resource, with the flags of callers that select none. */
  readonly collection: string;
  /** Reads flags from resources. Default: {@link structFlags}. */
  readonly reader?: FlagReader;
  /**
   * Returns what a caller may see; `(...caller) => server.viewCaller(...caller)` applies the rules
   * of a server. To deny access, throw an XdsError. Default: all of `source`.
   */
  readonly viewOf?: (
    peer: CallPeer,
    options: { readonly path: string; readonly signal: AbortSignal },
  ) => FlagView | Promise<FlagView>;
  /**
   * Values that providers of flagd add to the context of each evaluation, such as the environment.
   * Default: none.
   */
  readonly syncContext?: Readonly<Record<string, string | number | boolean>>;
  /**
   * The origin whose pages may evaluate flags over OFREP, such as `https://app.example`; false:
   * pages may not. Default: `*`, every page.
   */
  readonly allowOrigin?: string | false;
  /** Limits that replace those of {@link defaultFlagLimits}. */
  readonly limits?: Partial<FlagLimits>;
  /** Called for a resource whose flags are not valid; its last valid flags stay. */
  readonly onRejected?: (rejected: RejectedFlags) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}
