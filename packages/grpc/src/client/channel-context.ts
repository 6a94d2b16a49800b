import type { Clock } from "@xdstp/core";
import { createDeadlines, type Deadlines } from "../wire/deadlines.ts";
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
  /** Calls in the middle of a message, of which more has to come in time. */
  readonly stalls: Deadlines<{ onStalled(): void }>;
  /** Memory of unfinished messages; negative gives back. false: the limit is reached. */
  reserve(bytes: number): boolean;
}

/** The context of one channel. What `onEvent` throws goes no further: it must not end a connection. */
export function createChannelContext(
  shared: Pick<ChannelContext, "target" | "limits" | "clock">,
  onEvent?: (event: ChannelEvent) => void,
): ChannelContext {
  let partialBytes = 0;
  return {
    ...shared,
    stalls: createDeadlines(shared.clock, shared.limits.stalledMs, (call) => {
      call.onStalled();
    }),
    emit(event) {
      try {
        onEvent?.(event);
      } catch {
        /* see above */
      }
    },
    reserve(bytes) {
      if (bytes > 0 && partialBytes + bytes > shared.limits.maxPartialBytes) return false;
      partialBytes += bytes;
      return true;
    },
  };
}
