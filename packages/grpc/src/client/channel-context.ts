import type { Clock } from "@xdstp/core";
import type { ChannelLimits } from "./channel-limits.ts";
import type { ChannelEvent } from "./connectivity.ts";
import type { Target } from "./parse-target.ts";

/** What all parts of one channel share. */
export interface ChannelContext {
  readonly target: Target;
  readonly limits: ChannelLimits;
  readonly clock: Clock;
  /** Never throws. */
  emit(event: ChannelEvent): void;
  /** Memory of unfinished messages; negative gives back. false: the limit is reached. */
  reserve(bytes: number): boolean;
}

/** The context of one channel. What `onEvent` throws goes no further: it must not end a connection. */
export function createChannelContext(shared: Pick<ChannelContext, "target" | "limits" | "clock">, onEvent?: (event: ChannelEvent) => void): ChannelContext {
  let partialBytes = 0;
  return {
    ...shared,
    emit(event) {
      try {
        onEvent?.(event);
      } catch { /* see above */ }
    },
    reserve(bytes) {
      if (bytes > 0 && partialBytes + bytes > shared.limits.maxPartialBytes) return false;
      partialBytes += bytes;
      return true;
    },
  };
}
