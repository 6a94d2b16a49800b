import {
  StatusCode,
  type ByteStream,
  type ByteStreamHandler,
  type Clock,
  type Status,
} from "@xdstp/core";

import { checkEnvelope, lend } from "../create-memory-stream.ts";
import type { Connection, NetworkObserver, Serve, Side } from "./network.ts";
import { createPipe, type Cargo, type Pipe, type PipeOptions } from "./pipe.ts";

/** The parts of a network that a connection uses. */
export interface ConnectionHost extends PipeOptions {
  readonly clock: Clock;
  readonly keepaliveMs: number;
  readonly observer: NetworkObserver;
  /** Called when neither side is open any more. */
  onOver(connection: OpenConnection): void;
}

/** The target of a call. */
export interface Call {
  readonly id: number;
  readonly address: string;
  readonly isDuplicate: boolean;
  /** Returns the server that listens at the address when the call arrives. */
  serve(): Serve | undefined;
}

/** A connection, with the stream of its client. */
export interface OpenConnection extends Connection {
  readonly stream: Required<Omit<ByteStream, "probe">>;
}

/** One side of a connection. */
interface End {
  readonly side: Side;
  /** Absent until the call has arrived. */
  handler: ByteStreamHandler | undefined;
  /** The status with which it ended. `undefined` while it is open. */
  closed: Status | undefined;
  /** The pipe on which it sends. */
  readonly out: Pipe;
  readonly in: Pipe;
}

const LOST: Status = { code: StatusCode.UNAVAILABLE, message: "the connection was lost" };
const NO_SERVER: Status = { code: StatusCode.UNAVAILABLE, message: "no server listens there" };

/** Creates a call that is on its way. */
export function createConnection(
  host: ConnectionHost,
  call: Call,
  handler: ByteStreamHandler,
): OpenConnection {
  return new TwoWays(host, call, handler);
}

class TwoWays implements OpenConnection {
  readonly id: number;
  readonly address: string;
  readonly isDuplicate: boolean;
  readonly stream: Required<Omit<ByteStream, "probe">>;
  readonly #host: ConnectionHost;
  readonly #client: End;
  readonly #server: End;
  #opening = true;
  #isCut = false;

  constructor(host: ConnectionHost, call: Call, handler: ByteStreamHandler) {
    this.id = call.id;
    this.address = call.address;
    this.isDuplicate = call.isDuplicate;
    this.#host = host;
    const [up, down] = [this.#way(0, "client"), this.#way(1, "server")];
    this.#client = { side: "client", handler, closed: undefined, out: up, in: down };
    this.#server = { side: "server", handler: undefined, closed: undefined, out: down, in: up };
    const isOpening = (): boolean => this.#opening;
    this.stream = {
      ...this.#streamOf(this.#client),
      get opening() {
        return isOpening();
      },
    };
    this.#later(() => {
      this.#arrive(call.serve());
    });
  }

  isOpen(side: Side): boolean {
    return this.#endOf(side).closed === undefined;
  }

  isPaused(side: Side): boolean {
    return this.#endOf(side).out.isPaused;
  }

  cut(told: "both" | "neither" | Side): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const end of [this.#client, this.#server]) end.out.lose();
    for (const end of [this.#client, this.#server]) {
      if (told === "both" || told === end.side) this.#lost(end);
      else
        this.#host.clock.after(this.#host.keepaliveMs, () => {
          this.#lost(end);
        });
    }
  }

  stall(ms: number): void {
    for (const { out } of [this.#client, this.#server]) out.holdUntil(this.#host.clock.now() + ms);
  }

  slow(side: Side, ms: number): void {
    this.#endOf(side).in.slow(ms);
  }

  #endOf(side: Side): End {
    return side === "client" ? this.#client : this.#server;
  }

  #way(label: number, from: Side): Pipe {
    const to = from === "client" ? "server" : "client";
    return createPipe(
      { ...this.#host, random: this.#host.random.fork(label) },
      {
        onArrived: (cargo) => {
          this.#onArrived(this.#endOf(to), from, cargo);
        },
        onDrained: () => {
          const end = this.#endOf(from);
          if (end.closed === undefined) end.handler?.onDrained();
        },
      },
    );
  }

  #later(callback: () => void): void {
    const {
      clock,
      random,
      delayMs: [least, most],
    } = this.#host;
    clock.after(random.between(least, most), callback);
  }

  /** Called when the call has reached its address. */
  #arrive(serve: Serve | undefined): void {
    const server = this.#server;
    if (this.#isCut || this.#client.closed !== undefined) {
      this.#over(server, LOST);
      return;
    }
    if (serve === undefined) {
      this.#over(server, NO_SERVER);
      this.#later(() => {
        this.#lost(this.#client, NO_SERVER);
      });
      return;
    }
    server.handler = serve(this.#streamOf(server), this);
    if (server.closed !== undefined) server.handler.onClosed(server.closed);
    server.in.read(true);
    this.#later(() => {
      this.#opened();
    });
  }

  #opened(): void {
    this.#opening = false;
    if (this.#client.closed !== undefined || this.#isCut) return;
    this.#client.handler?.onOpened?.();
    this.#client.in.read(true);
  }

  #streamOf(end: End): Required<Omit<ByteStream, "opening" | "probe">> {
    return {
      send: (message) => {
        if (end.closed !== undefined) return true;
        checkEnvelope(message);
        this.#host.observer.onSent?.(this, end.side, message.bytes);
        return end.out.send(message);
      },
      pause: () => {
        end.in.read(false);
      },
      resume: () => {
        if (end.side === "server" || !this.#opening) end.in.read(true);
      },
      close: (status) => {
        if (end.closed !== undefined) return;
        end.out.finish(status);
        this.#lost(end, status);
      },
    };
  }

  #onArrived(end: End, from: Side, { bytes, status }: Cargo): void {
    if (end.closed !== undefined || end.handler === undefined) return;
    if (bytes === undefined) {
      this.#lost(end, status);
      return;
    }
    this.#host.observer.onArrived?.(this, from, bytes);
    lend(bytes, end.handler);
  }

  #lost(end: End, status: Status = LOST): void {
    if (end.closed !== undefined) return;
    this.#over(end, status);
    end.handler?.onClosed(status);
  }

  #over(end: End, status: Status): void {
    end.closed = status;
    end.in.lose();
    if (this.#client.closed !== undefined && this.#server.closed !== undefined)
      this.#host.onOver(this);
  }
}
