import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";
import type { ServerStream } from "@xdstp/protocol/server";

/** What a guarded stream tells its server. */
export interface StreamHost {
  /** A call into the state machine, or into the source behind it, has thrown. */
  fault(where: string, error: unknown): void;
  /** The call is over; once. */
  closed(stream: GuardedStream): void;
}

/** A served stream whose faults end it and nothing else: the peer sees INTERNAL and a fixed text (S-STREAM-7). */
export interface GuardedStream extends ByteStreamHandler {
  readonly served: ServerStream;
  /** Ends it from this side. */
  end(status: Status): void;
  /** Ends it as broken. */
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

  /** A machine that cannot even end must not keep its call open. */
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
