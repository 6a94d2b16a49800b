import type { ConnectionCut, StreamCut } from "./grpc-event.ts";

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
export interface GrpcCounters {
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
export function createCounters(): GrpcCounters {
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
