import type { ByteStream, ByteStreamHandler, Clock, Status, Timer } from "@xdstp/core";
import { StatusCode } from "@xdstp/core";
import type { DiscoveryRequest } from "@xdstp/protos/discovery";

import { createPollSession, type PollAnswer, type PollSession } from "./poll-session.ts";

/** Limits of the sessions of a server. */
export interface PollLimits {
  /** Milliseconds that a session is kept after the last poll. Default 300,000. */
  readonly idleMs: number;
  /** The maximum number of sessions. The one that was idle the longest goes first. Default 50,000. */
  readonly sessions: number;
  /**
   * The maximum number of sessions of one client and type. Clients of one host with the same node
   * id count as one. Default 16.
   */
  readonly sessionsPerClient: number;
  /**
   * Milliseconds after which a state is sent again that a client rejected without an error, as Envoy
   * does. Doubles with each rejection, up to 32 times. Default 10,000.
   */
  readonly againMs: number;
}

/** One poll, as its session gets it. */
export interface Poll {
  /** Names the client and the type. Polls with different keys never share a session. */
  readonly key: string;
  readonly request: DiscoveryRequest;
  /** Milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Opens a SotW stream for a new session. */
  readonly open: (out: ByteStream) => ByteStreamHandler | Status;
}

/** The sessions of all clients. */
export interface PollSessions {
  poll(poll: Poll): Promise<PollAnswer>;
  /** The number of sessions. */
  readonly size: number;
  /** Ends all sessions. */
  close(): void;
}

const crowded: PollAnswer = {
  kind: "rejected",
  status: {
    code: StatusCode.RESOURCE_EXHAUSTED,
    message: "too many polls wait at once; try again later",
  },
};

/** Creates the sessions of one server. */
export function createPollSessions(clock: Clock, limits: PollLimits): PollSessions {
  return new Sessions(clock, limits);
}

interface Row {
  readonly key: string;
  readonly session: PollSession;
  /** Ends the session when it has been idle for long; absent during a poll. */
  idle: Timer | undefined;
}

class Sessions implements PollSessions {
  readonly #clock: Clock;
  readonly #limits: PollLimits;
  readonly #byKey = new Map<string, Set<Row>>();
  /** In the order of their last polls. */
  readonly #rows = new Set<Row>();

  constructor(clock: Clock, limits: PollLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#rows.size;
  }

  async poll(poll: Poll): Promise<PollAnswer> {
    const row = this.#rowFor(poll);
    if (row === undefined) return crowded;
    row.idle?.cancel();
    row.idle = undefined;
    this.#rows.delete(row);
    this.#rows.add(row);
    const answer = await this.#answer(row, poll);
    if (answer.kind === "rejected" || !this.#rows.has(row)) this.#remove(row);
    else
      row.idle = this.#clock.after(this.#limits.idleMs, () => {
        this.#remove(row);
      });
    return answer;
  }

  /** A session that fails is of no use to the next poll. */
  async #answer(row: Row, { request, waitMs, signal }: Poll): Promise<PollAnswer> {
    try {
      return await row.session.poll(request, waitMs, signal);
    } catch (error) {
      this.#remove(row);
      throw error;
    }
  }

  close(): void {
    for (const row of this.#rows) this.#remove(row);
  }

  /**
   * Returns the session of a poll. Two clients may have the same node id, and a client may poll
   * again before the server has noticed that it gave up: so the version tells them apart.
   */
  #rowFor({ key, request, open }: Poll): Row | undefined {
    const rows = [...(this.#byKey.get(key) ?? [])];
    const free = rows.filter(({ session }) => !session.isBusy);
    const fitting = free.find(({ session }) => session.fits(request.versionInfo));
    if (fitting !== undefined) return fitting;
    // A client that has started again.
    if (request.versionInfo === "" && free[0] !== undefined) return free[0];
    if (rows.length >= this.#limits.sessionsPerClient) return free[0];
    if (this.#rows.size >= this.#limits.sessions && !this.#makeRoom()) return undefined;
    return this.#add(key, open);
  }

  #add(key: string, open: Poll["open"]): Row {
    const session = createPollSession({ clock: this.#clock, open, againMs: this.#limits.againMs });
    const row: Row = { key, session, idle: undefined };
    this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(row));
    this.#rows.add(row);
    return row;
  }

  #makeRoom(): boolean {
    for (const row of this.#rows) {
      if (row.session.isBusy) continue;
      this.#remove(row);
      return true;
    }
    return false;
  }

  #remove(row: Row): void {
    this.#rows.delete(row);
    const rows = this.#byKey.get(row.key);
    rows?.delete(row);
    if (rows?.size === 0) this.#byKey.delete(row.key);
    row.idle?.cancel();
    row.session.close();
  }
}
