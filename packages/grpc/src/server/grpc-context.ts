import type { Clock } from "@xdstp/core";

import type { ConnectionCut, GrpcEvent, StreamCut } from "./grpc-event.ts";
import type { GrpcLimits } from "./grpc-limits.ts";

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

/** What is open now, and what was counted since the server was made. */
export interface GrpcStats {
  /** Open connections. */
  readonly connections: number;
  /** Open streaming calls, on all connections. */
  readonly streams: number;
  /** Open calls that Connect serves. */
  readonly calls: number;
  /** Connections admitted. */
  readonly connectionsOpened: number;
  /** Connections told to go because of their age. */
  readonly connectionsRetired: number;
  /** How often a connection had all the calls open that one may have (`maxStreamsPerConnection`). Its client waits with more; HTTP/2 rejects what others send all the same. */
  readonly connectionsFilled: number;
  /** Streaming calls begun. */
  readonly streamsOpened: number;
  /** Calls given to Connect. */
  readonly callsOpened: number;
  /** Messages of streaming calls that handlers got. */
  readonly messagesReceived: number;
  /** Messages of streaming calls that handlers sent. */
  readonly messagesSent: number;
  /** What was thrown by handlers, routes and listeners of events. */
  readonly faults: number;
  /** Connections and calls cut or rejected, by reason; a reason that never happened is absent. */
  readonly cuts: Readonly<Partial<Record<ConnectionCut | StreamCut, number>>>;
}

/** The counters behind {@link GrpcStats}, written where things happen. */
interface GrpcCounters {
  connections: number;
  streams: number;
  calls: number;
  connectionsOpened: number;
  connectionsRetired: number;
  connectionsFilled: number;
  streamsOpened: number;
  callsOpened: number;
  messagesReceived: number;
  messagesSent: number;
  faults: number;
  readonly cuts: Map<ConnectionCut | StreamCut, number>;
}

/** Counters at zero. */
function createCounters(): GrpcCounters {
  return {
    connections: 0,
    streams: 0,
    calls: 0,
    connectionsOpened: 0,
    connectionsRetired: 0,
    connectionsFilled: 0,
    streamsOpened: 0,
    callsOpened: 0,
    messagesReceived: 0,
    messagesSent: 0,
    faults: 0,
    cuts: new Map(),
  };
}

/** A copy of the counters, to give away. */
export function statsOf(counters: GrpcCounters): GrpcStats {
  return { ...counters, cuts: Object.fromEntries(counters.cuts) };
}
