import type { Connection, Side } from "@xdstp/testing";

/** What befalls a connection; `ms: 0` ends it. */
export type Fault = { readonly kind: "cut" } | { readonly kind: "stall"; readonly ms: number } | { readonly kind: "slow"; readonly side: Side; readonly ms: number };

/** How long connections stand undisturbed. */
export interface Standing {
  open(connection: Connection): void;
  disturb(connection: Connection, fault: Fault): void;
  /** Milliseconds since the epoch. Infinity: it does not stand. */
  since(connection: Connection): number;
}

interface State {
  since: number;
  isCut: boolean;
  /** Sides that read slowly. */
  readonly slow: Set<Side>;
}

/** What a slow reader has left of the messages on their way arrives within so many milliseconds. */
const BACKLOG = 20_000;

export function createStanding(now: () => number): Standing {
  const states = new WeakMap<Connection, State>();
  return {
    open(connection) { states.set(connection, { since: now(), isCut: false, slow: new Set() }); },
    disturb(connection, fault) {
      const state = states.get(connection);
      if (state === undefined) return;
      if (fault.kind === "cut") state.isCut = true;
      else if (fault.kind === "stall") stall(state, now(), fault.ms);
      else slow(state, now(), fault);
    },
    since(connection) {
      const state = connection.isOpen("client") && connection.isOpen("server") ? states.get(connection) : undefined;
      return state === undefined || state.isCut || state.slow.size > 0 ? Infinity : state.since;
    },
  };
}

function stall(state: State, now: number, ms: number): void {
  if (ms > 0) state.since = now + ms;
  else state.since = Math.min(state.since, now);
}

function slow(state: State, now: number, { side, ms }: Extract<Fault, { kind: "slow" }>): void {
  if (ms > 0) state.slow.add(side);
  else if (state.slow.delete(side)) state.since = Math.max(state.since, now + BACKLOG);
}
