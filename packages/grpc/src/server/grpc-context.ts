import type { Clock } from "@xdstp/core";
import type { ConnectionCut, GrpcEvent, StreamCut } from "./grpc-event.ts";
import type { GrpcLimits } from "./grpc-limits.ts";
import { createCounters, type GrpcCounters } from "./grpc-stats.ts";

/** What all connections and calls of one server share. */
export interface GrpcContext {
  readonly limits: GrpcLimits;
  readonly clock: Clock;
  readonly counters: GrpcCounters;
  /** Tells the listener; what it throws is counted and goes no further. */
  emit(event: GrpcEvent): void;
  /** Counts one cut. */
  count(reason: ConnectionCut | StreamCut): void;
  /** Counts and reports errors thrown by code of the user. */
  fault(where: string, error: unknown): void;
}

/** The context of a new server. */
export function createContext(
  limits: GrpcLimits,
  clock: Clock,
  onEvent: ((event: GrpcEvent) => void) | undefined,
): GrpcContext {
  const counters = createCounters();
  const emit = (event: GrpcEvent): void => {
    try {
      onEvent?.(event);
    } catch {
      counters.faults += 1;
    }
  };
  return {
    limits,
    clock,
    counters,
    emit,
    count(reason) {
      counters.cuts.set(reason, (counters.cuts.get(reason) ?? 0) + 1);
    },
    fault(where, error) {
      counters.faults += 1;
      emit({ kind: "fault", where, error });
    },
  };
}
