import type { Connection, Side } from "@xdstp/testing";

/** A fault of a connection; `ms: 0` ends the fault. */
export type Fault =
  | { readonly kind: "cut" }
  | { readonly kind: "stall"; readonly ms: number }
  | { readonly kind: "slow"; readonly side: Side; readonly ms: number };

/** The times since which connections are undisturbed. */
export interface Standing {
  open(connection: Connection): void;
  disturb(connection: Connection, fault: Fault): void;
  /** Milliseconds since the epoch. Infinity: the connection is disturbed. */
  since(connection: Connection): number;
}

interface State {
  /** The time when the call has reached its server. Infinity: it is on its way, and its faults go on. */
  openedAt: number;
  /** When the newest stall ends: the network forgets those before it. */
  heldUntil: number;
  /** The time when the backlog of slow readers has arrived. */
  caughtUpAt: number;
  isCut: boolean;
  /** Sides that read slowly. */
  readonly slow: Set<Side>;
}

/** The backlog of a slow reader arrives within this time, in milliseconds. */
const BACKLOG = 20_000;

export function createStanding(now: () => number): Standing {
  const states = new WeakMap<Connection, State>();
  const stateOf = (connection: Connection): State => {
    const state = states.get(connection) ?? {
      openedAt: Infinity,
      heldUntil: 0,
      caughtUpAt: 0,
      isCut: false,
      slow: new Set(),
    };
    states.set(connection, state);
    return state;
  };
  return {
    open(connection) {
      stateOf(connection).openedAt = now();
    },
    disturb(connection, fault) {
      const state = stateOf(connection);
      if (fault.kind === "cut") state.isCut = true;
      else if (fault.kind === "stall") stall(state, now(), fault.ms);
      else slow(state, now(), fault);
    },
    since(connection) {
      const {
        openedAt,
        heldUntil,
        caughtUpAt,
        isCut,
        slow: { size },
      } = stateOf(connection);
      const stands =
        connection.isOpen("client") && connection.isOpen("server") && !isCut && size === 0;
      return stands ? Math.max(openedAt, heldUntil, caughtUpAt) : Infinity;
    },
  };
}

function stall(state: State, now: number, ms: number): void {
  state.heldUntil = ms > 0 ? now + ms : Math.min(state.heldUntil, now);
}

function slow(state: State, now: number, { side, ms }: Extract<Fault, { kind: "slow" }>): void {
  if (ms > 0) state.slow.add(side);
  else if (state.slow.delete(side)) state.caughtUpAt = now + BACKLOG;
}
