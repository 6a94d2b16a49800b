import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";
import type { Drainable, Scheduler, ServerStream, StreamStatus } from "@xdstp/protocol/server";

/** The open streams of a server. */
export interface OpenStreams {
  /** Adds a stream until it is closed. */
  add(served: ServerStream, out: ByteStream): GuardedStream;
  /** Ends the stream whose turn in a scheduler has thrown an exception. */
  fail(drainable: object, error: unknown): void;
  /** Returns a stream by its `StreamInfo.id`. */
  get(id: number): ServerStream | undefined;
  /** Returns the streams in order of arrival. */
  all(): readonly ServerStream[];
  /** Returns a row per stream, in order of arrival. */
  status(): readonly StreamStatus[];
  /**
   * Ends all streams with OK: then a client that has had a response keeps its state (S-STREAM-13).
   */
  end(): void;
}

/** Creates an empty set of streams. */
export function createOpenStreams(fault: (where: string, error: unknown) => void): OpenStreams {
  const open = new Map<object, GuardedStream>();
  const byId = new Map<number, ServerStream>();
  const closed = ({ served }: GuardedStream): void => {
    open.delete(served);
    byId.delete(served.info.id);
  };
  const host = { fault, closed };
  return {
    add(served, out) {
      const guarded = guardStream(served, out, host);
      open.set(served, guarded);
      byId.set(served.info.id, served);
      return guarded;
    },
    fail(drainable, error) {
      const guarded = open.get(drainable);
      if (guarded === undefined) fault("turn", error);
      else guarded.fail("turn", error);
    },
    get: (id) => byId.get(id),
    all: () => [...open.values()].map(({ served }) => served),
    status: () => [...open.values()].map(({ served }) => served.status()),
    end() {
      for (const guarded of [...open.values()])
        guarded.end({ code: StatusCode.OK, message: "the server is shutting down" });
    },
  };
}

/** The parts of a server that a guarded stream uses. */
interface StreamHost {
  /**
   * Called when a call into the state machine, or into the source behind it, has thrown an
   * exception.
   */
  fault(where: string, error: unknown): void;
  /** Called once, when the call is over. */
  closed(stream: GuardedStream): void;
}

/**
 * A served stream. An exception in it ends only this stream; the client receives INTERNAL and a
 * fixed text (S-STREAM-7).
 */
export interface GuardedStream extends ByteStreamHandler {
  readonly served: ServerStream;
  /** Ends the stream from the server. */
  end(status: Status): void;
  /** Ends the stream with INTERNAL, and reports the exception. */
  fail(where: string, error: unknown): void;
}

/** Guards a stream that writes to `out`. */
export function guardStream(
  served: ServerStream,
  out: ByteStream,
  host: StreamHost,
): GuardedStream {
  return new Guard(served, out, host);
}

const broken: Status = { code: StatusCode.INTERNAL, message: "internal error" };

class Guard implements GuardedStream {
  readonly served: ServerStream;
  readonly #out: ByteStream;
  readonly #host: StreamHost;

  constructor(served: ServerStream, out: ByteStream, host: StreamHost) {
    this.served = served;
    this.#out = out;
    this.#host = host;
  }

  onMessage(message: Uint8Array): void {
    try {
      this.served.onMessage(message);
    } catch (error) {
      this.fail("request", error);
    }
  }

  onDrained(): void {
    this.#guard("drain", () => {
      this.served.onDrained();
    });
  }

  onEnd(): void {
    this.#guard("end of requests", () => {
      if (this.served.onEnd === undefined) this.end({ code: StatusCode.OK, message: "" });
      else this.served.onEnd();
    });
  }

  onClosed(status: Status): void {
    this.#host.closed(this);
    try {
      this.served.onClosed(status);
    } catch (error) {
      this.#host.fault("close", error);
    }
  }

  admits(length: number, prefix: Uint8Array): boolean | undefined {
    let answer: boolean | undefined = false;
    this.#guard("admission", () => {
      answer = this.served.admits === undefined ? false : this.served.admits(length, prefix);
    });
    return answer;
  }

  /** Closes the call even if the state machine throws while it ends. */
  end(status: Status): void {
    try {
      this.served.end(status.code, status.message);
    } catch (error) {
      this.#host.fault("end", error);
    }
    this.#out.close(status);
  }

  fail(where: string, error: unknown): void {
    this.#host.fault(where, error);
    this.end(broken);
  }

  #guard(where: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.fail(where, error);
    }
  }
}

/**
 * Returns a scheduler that passes exceptions to `onFault` and continues with the rest of the queue.
 */
export function createGuardedScheduler(
  inner: Scheduler,
  onFault: (drainable: Drainable, error: unknown) => void,
): Scheduler {
  return {
    add(drainable) {
      if (drainable.queued) return;
      drainable.queued = true;
      inner.add(new Guarded(drainable, onFault));
    },
  };
}

class Guarded implements Drainable {
  queued = false;
  readonly #drainable: Drainable;
  readonly #onFault: (drainable: Drainable, error: unknown) => void;

  constructor(drainable: Drainable, onFault: (drainable: Drainable, error: unknown) => void) {
    this.#drainable = drainable;
    this.#onFault = onFault;
  }

  drain(): void {
    this.#drainable.queued = false;
    try {
      this.#drainable.drain();
    } catch (error) {
      this.#onFault(this.#drainable, error);
    }
  }
}
