import type { Clock } from "@xdstp/core";

import type { ConnectionCut, GrpcEvent, StreamCut } from "./grpc-event.ts";
import type { GrpcLimits } from "./grpc-limits.ts";

/** The state that all connections and calls of one server share. */
export interface GrpcContext {
  readonly limits: GrpcLimits;
  readonly clock: Clock;
  readonly counters: GrpcCounters;
  /** Calls the listener. Its exceptions are counted, and have no other effect. */
  emit(event: GrpcEvent): void;
  /** Counts one cut. */
  count(reason: ConnectionCut | StreamCut): void;
  /** Counts and reports errors thrown by code of the user. */
  fault(where: string, error: unknown): void;
}

/** Creates the context of a new server. */
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

/** The open connections and calls, and the counters since the server was created. */
export interface GrpcStats {
  /** Open connections. */
  readonly connections: number;
  /** Open streaming calls, on all connections. */
  readonly streams: number;
  /** Open calls that Connect serves. */
  readonly calls: number;
  /** Connections that were admitted. */
  readonly connectionsOpened: number;
  /** Connections that got GOAWAY because of their age. */
  readonly connectionsRetired: number;
  /**
   * Number of times that a connection had the maximum number of open calls (`maxStreamsPerConnection`). Most
   * clients then wait; HTTP/2 rejects further calls.
   */
  readonly connectionsFilled: number;
  /** Streaming calls that began. */
  readonly streamsOpened: number;
  /** Calls that were passed to Connect. */
  readonly callsOpened: number;
  /** Messages of streaming calls that handlers received. */
  readonly messagesReceived: number;
  /** Messages of streaming calls that handlers sent. */
  readonly messagesSent: number;
  /** Exceptions of handlers, routes and event listeners. */
  readonly faults: number;
  /**
   * Connections and calls that were cut or rejected, by reason. A reason that never occurred is
   * absent.
   */
  readonly cuts: Readonly<Partial<Record<ConnectionCut | StreamCut, number>>>;
}

/** The counters behind {@link GrpcStats}. */
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

/** Creates counters at zero. */
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

/** Returns a copy of the counters. */
export function statsOf(counters: GrpcCounters): GrpcStats {
  return { ...counters, cuts: Object.fromEntries(counters.cuts) };
}
